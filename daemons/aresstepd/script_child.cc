#include "aresstepd/script_child.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "os/clock.h"
#include "os/descendants.h"
#include "os/fd.h"

namespace ares::stepd {
namespace {

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    const rlimit no_core{};
    (void)::setrlimit(RLIMIT_CORE, &no_core);  // the script has left one
    const int signal = WTERMSIG(status);
    ::signal(signal, SIG_DFL);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    ::kill(::getpid(), signal);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

std::optional<int> wait_for_child(pid_t child, std::optional<BootTime> deadline) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    sigset_t wanted;
    ::sigemptyset(&wanted);
    ::sigaddset(&wanted, SIGCHLD);
    if (!deadline) {
      ::sigwaitinfo(&wanted, nullptr);
      continue;
    }
    const Duration left = *deadline - os::boot_now();
    if (left <= Duration()) return std::nullopt;
    const timespec time{static_cast<time_t>(left.count() / 1'000'000),
                        static_cast<long>(left.count() % 1'000'000 * 1000)};
    ::sigtimedwait(&wanted, nullptr, &time);
  }
}

Status continue_as_child(const std::function<void()>& after) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t child = ::fork();
  if (child <= 0) {
    if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (child == 0) return {};
    return fail(os::errno_error("cannot fork"));
  }
  ::prctl(PR_SET_NAME, os::kWaitsForScript);
  const int status = wait_for_child(child, std::nullopt).value_or(0);
  after();
  end_as(status);
}

}  // namespace ares::stepd
