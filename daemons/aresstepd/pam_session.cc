#include "aresstepd/pam_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <optional>
#include <string_view>

#include "base/printable.h"
#include "base/time.h"
#include "os/clock.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kMostTold = 1 << 20;
constexpr Duration kTimeToOpen = std::chrono::seconds(60);
constexpr Duration kTimeToClose = std::chrono::seconds(10);

struct Pipe {
  os::Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  return Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

std::string beside_this_program() {
  char path[PATH_MAX] = "";
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string_view own(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  return std::string(own.substr(0, own.rfind('/') + 1)) + "ares-pam";
}

int milliseconds_until(BootTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - os::boot_now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

// What the helper says until it closes its output; none at the deadline.
std::optional<std::string> read_all(const os::Fd& from, BootTime deadline) {
  std::string text;
  for (;;) {
    pollfd ready{from.get(), POLLIN, 0};
    const int count = ::poll(&ready, 1, milliseconds_until(deadline));
    if (count == 0) return std::nullopt;
    char buffer[4096];
    const ssize_t n = count < 0 ? -1 : ::read(from.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    if (text.size() < kMostTold) text.append(buffer, static_cast<std::size_t>(n));
  }
}

void wait_for(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void become_helper(const std::string& helper, const std::string& service,
                                const std::string& user, const os::Fd& in, const os::Fd& out) {
  ::dup2(in.get(), STDIN_FILENO);
  ::dup2(out.get(), STDOUT_FILENO);
  ::execl(helper.c_str(), "ares-pam", service.c_str(), user.c_str(), nullptr);
  const std::string why = os::errno_error("cannot execute " + helper).message;
  (void)!::write(STDOUT_FILENO, why.data(), why.size());
  ::_exit(127);
}

}  // namespace

Result<PamSession> PamSession::open(const std::string& service, const std::string& user,
                                    const std::string& helper) {
  Result<Pipe> hold = make_pipe(), told = make_pipe();
  if (!hold) return fail(hold.error());
  if (!told) return fail(told.error());
  const pid_t child = ::fork();
  if (child < 0) return fail(os::errno_error("cannot fork"));
  if (child == 0)
    become_helper(helper.empty() ? beside_this_program() : helper, service, user, hold->read,
                  told->write);
  hold->read.reset();
  told->write.reset();
  PamSession session(child, std::move(hold->write));
  const auto text = read_all(told->read, os::boot_now() + kTimeToOpen);
  constexpr std::string_view kOk("ok\0", 3);
  if (text && text->starts_with(kOk)) {
    for (std::size_t at = kOk.size(); at < text->size();) {
      const std::size_t end = std::min(text->find('\0', at), text->size());
      if (end > at) session.environment_.push_back(text->substr(at, end - at));
      at = end + 1;
    }
    return session;
  }
  ::kill(child, SIGKILL);
  wait_for(child);
  return fail(ErrorCode::permission_denied,
              "there is no PAM session (" + service + "): " +
                  (!text           ? "no answer within 60 s"
                   : text->empty() ? "the process that holds it has ended"
                                   : excerpt(*text)));
}

void PamSession::take_limits() const {
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    if (::prlimit(helper_, static_cast<__rlimit_resource>(resource), nullptr, &limit) == 0)
      (void)::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
  }
}

void PamSession::close() {
  hold_.reset();
  const BootTime deadline = os::boot_now() + kTimeToClose;
  for (;;) {
    const pid_t ended = ::waitpid(helper_, nullptr, WNOHANG);
    if (ended == helper_ || (ended < 0 && errno != EINTR)) return;
    if (os::boot_now() >= deadline) break;
    ::poll(nullptr, 0, 10);
  }
  ::dprintf(STDERR_FILENO, "aresstepd: the PAM session was not closed within 10 s\n");
  ::kill(helper_, SIGKILL);
  wait_for(helper_);
}

void set_variables(std::vector<std::string>& variables, const std::vector<std::string>& more) {
  for (const std::string& variable : more) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    if (name.size() < 2) continue;
    std::erase_if(variables, [&](const std::string& v) { return v.starts_with(name); });
    variables.push_back(variable);
  }
}

}  // namespace ares::stepd
