// arun: runs a program as the tasks of a step. Called as ares-rsh: runs a command on one node of the job.
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "arun/options.h"
#include "arun/session.h"
#include "cli/options/frame.h"
#include "os/sockets/local_socket.h"
#include "steps/socket_name.h"

namespace ares::arun {
namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
  return variables;
}

Result<os::Fd> connect_to_host() {
  const char* const directory = std::getenv("ARES_ATTEMPT_DIR");
  if (!directory)
    return fail(
        ErrorCode::failed_precondition,
        "this is not within a job (ARES_ATTEMPT_DIR is not set); submit a script that calls "
        "arun with asub");
  Result<os::Fd> socket = os::connect_in(directory, steps::kSocketName);
  if (!socket)
    return fail(socket.error().code,
                "cannot reach the job of this process: " + socket.error().message);
  return socket;
}

Result<int> run_step(const Wanted& wanted, Streams streams) {
  Result<os::Fd> host = connect_to_host();
  if (!host) return fail(host.error());
  Session session(wanted, std::move(streams), std::move(*host));
  return session.run();
}

void fill_in_process(Wanted& wanted) {
  char here[PATH_MAX];
  wanted.request.task.directory = !wanted.directory.empty()     ? wanted.directory
                                  : ::getcwd(here, sizeof here) ? here
                                                                : "/";
  const mode_t mask = ::umask(0);
  ::umask(mask);
  wanted.request.task.umask = mask;
}

// `ares-rsh [OPTIONS] HOST COMMAND...`, called like rsh(1) and ssh(1).
Result<int> run_remote_shell(const cli::Words& words) {
  Wanted wanted;
  fill_in_process(wanted);
  Result<Streams> streams = complete_remote_shell(wanted, own_environment(), words);
  if (!streams) return fail(streams.error());
  return run_step(wanted, std::move(*streams));
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  wanted.request.task.cpus_per_task = 0;  // not said
  const cli::OptionTable table = options(wanted);
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) -> Result<int> {
                         fill_in_process(wanted);
                         Result<Streams> streams = complete(wanted, own_environment(), operands);
                         if (!streams) return fail(streams.error());
                         return run_step(wanted, std::move(*streams));
                       });
}

}  // namespace
}  // namespace ares::arun

int main(int argc, char** argv) {
  const std::string_view called = argc > 0 ? argv[0] : "";
  if (called.substr(called.rfind('/') + 1) == "ares-rsh")
    return ares::cli::run_main("ares-rsh", argc, argv, ares::arun::run_remote_shell);
  return ares::cli::run_main("arun", argc, argv, ares::arun::run);
}
