// aresstepd [--shared-ipc] --serve FD: forks supervisors for aresd, and ends with it.
// aresstepd [--shared-ipc] ATTEMPT_DIR [CHANNEL_FD [--without-namespaces]]: supervises one attempt on
// a node, and outlives the aresd that starts it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "aresstepd/fork_server.h"
#include "aresstepd/reaper.h"
#include "aresstepd/supervisor.h"
#include "os/job_slice.h"

namespace {

int serve(int socket, ares::os::Ipc ipc) {
  ares::stepd::ForkServer server{ares::os::Fd(socket), ipc};
  const ares::Status status = server.run();
  if (status) return 0;
  std::fprintf(stderr, "aresstepd: %s\n", status.error().message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("aresstepd " ARES_VERSION);
    return 0;
  }
  ares::os::Ipc ipc = ares::os::Ipc::own;
  if (argc > 1 && std::string_view(argv[1]) == "--shared-ipc") {
    ipc = ares::os::Ipc::of_machine;
    ++argv;
    --argc;
  }
  if (argc == 3 && std::string_view(argv[1]) == "--serve") {
    ares::os::leave_daemon_groups();
    return serve(std::atoi(argv[2]), ipc);
  }
  const bool namespaces = argc < 4;
  if (argc < 2 || argc > 4 || argv[1][0] != '/' ||
      (!namespaces && std::string_view(argv[3]) != "--without-namespaces")) {
    std::fputs(
        "usage: aresstepd [--shared-ipc] ATTEMPT_DIR [CHANNEL_FD [--without-namespaces]]\n"
        "       aresstepd [--shared-ipc] --serve FD\n"
        "Started by aresd, not by hand; see aresstepd(8).\n",
        stderr);
    return 2;
  }
  const std::string directory = argv[1];
  const int channel = argc > 2 ? std::atoi(argv[2]) : -1;
  // First, so that all processes below this one are born outside of the daemon's groups.
  ares::os::leave_daemon_groups();
  if (namespaces) return ares::stepd::supervise_attempt(directory, channel, {.ipc = ipc});
  return ares::stepd::run_under_reaper(directory, channel, [&](pid_t reaper) {
    return ares::stepd::supervise_attempt(directory, channel, {.reaper = reaper, .ipc = ipc});
  });
}
