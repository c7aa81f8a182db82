#include "submit/process/hook_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "os/process/spawn_program.h"

namespace ares::submit {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// More than an answer can have: a script that sets huge fields is refused.
constexpr std::size_t kLargestAnswer = std::size_t{64} << 20;

// False: the time is over.
bool wait_for(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    pollfd ready{fd, events, 0};
    const int n = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

tl::unexpected<Error> too_late(std::uint32_t time_limit_ms) {
  return fail(ErrorCode::resource_exhausted,
              "it took longer than " + std::to_string(time_limit_ms) + " ms");
}

tl::unexpected<Error> ended() {
  return fail(ErrorCode::unavailable, "the process that runs it has ended");
}

}  // namespace

Result<HookProcess> HookProcess::start(const std::string& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(os::errno_error("socketpair"));
  os::Fd own(ends[0]), other(ends[1]);
  const auto pid =
      os::spawn_program({program}, {other.get(), other.get()},
                        {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                         "HOME=/", "LANG=C.UTF-8"});
  if (!pid) return fail(pid.error().code, "cannot run " + program + ": " + pid.error().message);
  return HookProcess(*pid, std::move(own));
}

HookProcess::~HookProcess() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<HookAnswer> HookProcess::answer(const HookCall& call) {
  const Clock::time_point deadline =
      Clock::now() + milliseconds(call.time_limit_ms) + std::chrono::seconds(1);
  const std::string line = to_json(call) + "\n";
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n =
        ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      if (!wait_for(socket_.get(), POLLOUT, deadline)) return too_late(call.time_limit_ms);
    } else if (errno != EINTR) {
      return ended();
    }
  }
  std::string text;
  while (text.empty() || text.back() != '\n') {
    if (!wait_for(socket_.get(), POLLIN, deadline)) return too_late(call.time_limit_ms);
    char buffer[65536];
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return ended();
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kLargestAnswer)
      return fail(ErrorCode::unavailable, "what it set is too long");
  }
  auto answer = hook_answer_from_json(text);
  if (!answer) return fail(ErrorCode::unavailable, "its answer: " + answer.error().message);
  return answer;
}

}  // namespace ares::submit
