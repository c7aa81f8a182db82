// abcast: copies a file to all nodes of a job. Called as ares-receive: takes it on one of them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "abcast/options.h"
#include "abcast/receive.h"
#include "arun/place.h"
#include "arun/session.h"
#include "auth/sha256.h"
#include "cli/options/frame.h"
#include "step_client/allocation.h"

namespace ares::abcast {
namespace {

struct Source {
  os::Fd fd;
  struct stat facts {};
  std::string sha256;
};

Result<Source> open_source(const std::string& path) {
  Source source;
  source.fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.fd) return fail(os::errno_error("cannot read " + path));
  if (::fstat(source.fd.get(), &source.facts) != 0 || !S_ISREG(source.facts.st_mode))
    return fail(ErrorCode::invalid_argument, path + " is not a regular file");
  auth::Sha256 digest;
  for (char bytes[1 << 16];;) {
    const ssize_t n = ::read(source.fd.get(), bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot read " + path));
    if (n == 0) break;
    digest.add({bytes, static_cast<std::size_t>(n)});
  }
  source.sha256 = digest.hex();
  if (::lseek(source.fd.get(), 0, SEEK_SET) != 0)
    return fail(os::errno_error("cannot read " + path));
  return source;
}

Delivery delivery_of(const Source& source, const Wanted& wanted, const std::string& path,
                     std::string destination) {
  if (destination.ends_with('/')) destination += path.substr(path.rfind('/') + 1);
  Delivery delivery;
  delivery.destination = std::move(destination);
  delivery.size = static_cast<std::uint64_t>(source.facts.st_size);
  delivery.sha256 = source.sha256;
  delivery.force = wanted.force;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  delivery.mode = source.facts.st_mode & (wanted.preserve ? 07777 : 0777 & ~mask);
  if (wanted.preserve) {
    delivery.access = source.facts.st_atim.tv_sec;
    delivery.change = source.facts.st_mtim.tv_sec;
  }
  return delivery;
}

std::uint32_t nodes_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "ARES_JOB_NUM_NODES=";
  for (const std::string& variable : environment)
    if (variable.starts_with(kName)) {
      std::uint32_t number = 0;
      std::from_chars(variable.data() + kName.size(), variable.data() + variable.size(), number);
      return number;
    }
  return 1;
}

// One task on each node, which gets the file as its input.
steps::StepRequest request_for(const Delivery& delivery, std::vector<std::string> environment) {
  steps::StepRequest request;
  request.nodes = nodes_in(environment);
  request.tasks_per_node = 1;
  request.overlap = request.overcommit = true;
  request.task.arguments = {"ares-receive"};
  for (std::string& word : words_of(delivery)) request.task.arguments.push_back(std::move(word));
  const char* const path = std::getenv("PATH");
  std::string search = step_client::holding_environment(path ? path : "");
  search.pop_back();  // the NUL
  std::erase_if(environment, [](const std::string& v) { return v.starts_with("PATH="); });
  environment.push_back(std::move(search));
  request.task.environment = std::move(environment);
  char here[4096];
  request.task.directory = ::getcwd(here, sizeof here) ? here : "/";
  request.task.bind = false;
  return request;
}

Result<int> send(const Wanted& wanted, const cli::Words& operands) {
  if (operands.size() != 2)
    return fail(ErrorCode::invalid_argument, "say what to copy where: abcast SOURCE DEST");
  Result<Source> source = open_source(operands[0]);
  if (!source) return fail(source.error());
  Result<arun::Place> place = arun::find_job("abcast", wanted.common, wanted.job, false);
  if (!place) return fail(place.error());
  arun::Wanted step;
  step.program = "abcast";
  step.quiet = true;  // the tasks say by themselves what is wrong
  step.request = request_for(delivery_of(*source, wanted, operands[0], operands[1]),
                             std::move(place->environment));
  ::dup2(source->fd.get(), 0);
  arun::Streams streams;
  streams.sends_input = true;
  Result<int> code = arun::Session(step, std::move(streams), std::move(place->host)).run();
  if (code && *code == 127)
    std::fprintf(stderr, "abcast: the program ares-receive is not in PATH on a node\n");
  if (code) return *code == 0 ? 0 : 1;
  return code;
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  const cli::OptionTable table = options(wanted);
  return cli::run_line(manual(), table, wanted.common, words,
                       [&](const cli::Words& operands) { return send(wanted, operands); });
}

Result<int> run_receiver(const cli::Words& words) {
  const Result<Delivery> delivery = read_delivery(words);
  if (!delivery) return fail(delivery.error());
  const char* const node = std::getenv("ARESD_NODENAME");
  if (const Status received = receive(*delivery); !received)
    return fail(received.error().code,
                (node ? std::string(node) + ": " : "") + received.error().message);
  return 0;
}

}  // namespace
}  // namespace ares::abcast

int main(int argc, char** argv) {
  const std::string_view called = argc > 0 ? argv[0] : "";
  if (called.substr(called.rfind('/') + 1) == "ares-receive")
    return ares::cli::run_main("abcast", argc, argv, ares::abcast::run_receiver);
  return ares::cli::run_main("abcast", argc, argv, ares::abcast::run);
}
