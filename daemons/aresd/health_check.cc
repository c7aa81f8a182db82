#include "aresd/health_check.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/last_line.h"
#include "os/clock.h"

namespace ares::aresd {
namespace {

constexpr std::size_t kMostOutput = 4096;  // the last bytes that are kept
constexpr const char* kName = "health check";

struct Child {
  pid_t pid = 0;
  os::Fd process;  // pidfd
  os::Fd output;
};

Result<Child> start(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  os::Fd output(ends[0]), write_end(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, write_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&files, write_end.get(), 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  std::string argument = program;
  char* arguments[] = {argument.data(), nullptr};
  char* environment[] = {path.data(), nullptr};
  Child child;
  const int error =
      ::posix_spawn(&child.pid, program.c_str(), &files, &attributes, arguments, environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) return fail(os::errno_error("cannot execute " + program, error));
  child.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  child.output = std::move(output);
  return child;
}

void take_output(const os::Fd& from, std::string& text) {
  char buffer[1024];
  for (ssize_t n; (n = ::read(from.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kMostOutput) text.erase(0, text.size() - kMostOutput);
  }
}

enum class Waited { ended, timed_out, cancelled };

Waited wait_for(const Child& child, int cancel, BootTime deadline, std::string& output) {
  bool open = true;
  for (;;) {
    const Duration left = deadline - os::boot_now();
    if (left <= Duration{}) return Waited::timed_out;
    pollfd sources[] = {{child.process.get(), POLLIN, 0},
                        {cancel, POLLIN, 0},
                        {open ? child.output.get() : -1, POLLIN, 0}};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (::poll(sources, 3, static_cast<int>(std::min<std::int64_t>(ms, 60'000))) < 0) continue;
    if (sources[2].revents != 0) {
      take_output(child.output, output);
      open = (sources[2].revents & POLLHUP) == 0;
    }
    if (sources[1].revents != 0) return Waited::cancelled;
    if (sources[0].revents != 0) return Waited::ended;
  }
}

}  // namespace

std::string HealthCheck::run_once(const HealthCheckSetup& setup, int cancel) {
  Result<Child> child = start(setup.program);
  if (!child) return std::string(kName) + ": " + child.error().message;
  std::string output;
  const Waited waited = wait_for(*child, cancel, os::boot_now() + setup.timeout, output);
  // Also what it left running in its session.
  ::kill(-child->pid, SIGKILL);
  int status = 0;
  while (::waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {
  }
  take_output(child->output, output);
  if (waited == Waited::cancelled) return {};
  std::string how;
  if (waited == Waited::timed_out)
    how = "did not end within " + std::to_string(setup.timeout.count()) + " s";
  else if (WIFSIGNALED(status))
    how = "was ended by signal " + std::to_string(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    how = "exited with " + std::to_string(WEXITSTATUS(status));
  if (how.empty()) return {};
  const std::string said = last_line(output);
  return std::string(kName) + " " + how + (said.empty() ? "" : ": " + said);
}

HealthCheck::HealthCheck(HealthCheckSetup setup, std::function<void(std::string)> tell)
    : setup_(std::move(setup)), tell_(std::move(tell)), cancel_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    const auto wait_ms = std::chrono::milliseconds(setup_.interval).count();
    while (!stop.stop_requested()) {
      std::string unhealthy = run_once(setup_, cancel_.get());
      if (stop.stop_requested()) return;
      tell_(std::move(unhealthy));
      pollfd source{cancel_.get(), POLLIN, 0};
      ::poll(&source, 1, static_cast<int>(std::min<std::int64_t>(wait_ms, INT32_MAX)));
    }
  });
}

HealthCheck::~HealthCheck() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  (void)!::write(cancel_.get(), &one, sizeof one);
}

}  // namespace ares::aresd
