// arun as ares-rsh, by which programs of MPI start their daemons on other nodes.
#include <cstddef>
#include <string>
#include <vector>

#include "arun/options.h"

namespace ares::arun {

Result<Streams> complete_remote_shell(Wanted& w, const std::vector<std::string>& environment,
                                      const std::vector<std::string>& words) {
  Streams streams;
  streams.sends_input = true;
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    if (words[at] == "-n") streams.sends_input = false;
    if (words[at] == "-l" || words[at] == "-p" || words[at] == "-o") ++at;  // they have a value
  }
  if (at + 1 >= words.size())
    return fail(ErrorCode::invalid_argument, "usage: ares-rsh [-n] HOST COMMAND...");
  steps::StepRequest& request = w.request;
  request.wanted_nodes = {words[at]};
  request.tasks = 1;
  request.overlap = request.overcommit = true;
  std::string command;
  while (++at < words.size()) command += (command.empty() ? "" : " ") + words[at];
  request.task.arguments = {"/bin/sh", "-c", command};
  request.task.environment = environment;
  request.task.bind = false;
  w.quiet = true;  // the caller tells what failed
  return streams;
}

}  // namespace ares::arun
