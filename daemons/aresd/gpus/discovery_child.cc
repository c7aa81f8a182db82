#include "aresd/gpus/discovery_child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "aresd/gpus/driver_process.h"
#include "base/printable.h"
#include "gres/found/json.h"

namespace ares::aresd {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

// Reads both until their ends; false at the deadline, or when it is cancelled. Text beyond `most` is
// dropped.
bool read_both(const DriverProcess& process, std::size_t most, Clock::time_point deadline,
               int cancel, std::string& text, std::string& complaint) {
  std::array<pollfd, 3> ends{
      {{process.out(), POLLIN, 0}, {process.err(), POLLIN, 0}, {cancel, POLLIN, 0}}};
  const std::array<std::string*, 2> into{&text, &complaint};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const int ready = ::poll(ends.data(), ends.size(), milliseconds_until(deadline));
    if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    if (ready > 0 && ends[2].revents != 0) return false;
    for (std::size_t i = 0; ready > 0 && i < into.size(); ++i) {
      if (ends[i].revents == 0) continue;
      std::array<char, 16384> buffer;
      const ssize_t count = ::read(ends[i].fd, buffer.data(), buffer.size());
      if (count > 0)
        into[i]->append(buffer.data(), std::min(most - std::min(most, into[i]->size()),
                                                static_cast<std::size_t>(count)));
      else if (count == 0 || errno != EINTR)
        ends[i].fd = -1;
    }
  }
  return true;
}

// Of what a program wrote about its failure, without its own name.
std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  if (const std::size_t end = text.rfind('\n'); end != std::string::npos) text.erase(0, end + 1);
  if (text.starts_with("aresd: ")) text.erase(0, 7);
  return excerpt(text);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return std::string("it was ended by a signal: ") + ::strsignal(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<gres::FoundMachine> discover_in_child(const std::string& source, Seconds timeout,
                                             std::vector<std::string> command, int cancel) {
  const auto deadline = Clock::now() + timeout;
  if (command.empty()) command = {"", "--discover-here", source};
  Result<DriverProcess> process = DriverProcess::start(std::move(command));
  if (!process) return fail(process.error());
  std::string text, complaint;
  if (!read_both(*process, gres::kLongestFound + 1, deadline, cancel, text, complaint) ||
      !process->wait(deadline))
    return fail(ErrorCode::unavailable,
                "no answer within " + std::to_string(timeout.count()) + " s" +
                    (process->kill()
                         ? ""
                         : "; process " + std::to_string(process->pid()) + " cannot be killed") +
                    "; does the driver hang?");
  const int status = process->status();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string why = last_line(complaint);
    return fail(ErrorCode::failed_precondition,
                why.empty() || WIFSIGNALED(status) ? how_it_ended(status) : why);
  }
  Result<gres::FoundMachine> found = gres::from_json(text);
  if (!found)
    return fail(ErrorCode::failed_precondition,
                "the answer of discovery is invalid: " + found.error().message);
  return found;
}

}  // namespace ares::aresd
