#include "aresstepd/task_epilog.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>

#include "os/clock.h"
#include "os/descendants.h"
#include "os/fd.h"

namespace ares::stepd {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The wait status of the child; none if it has not ended by then. Precondition: CHLD is blocked.
std::optional<int> wait_for(pid_t child, std::optional<BootTime> deadline) {
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

std::string run_task_epilog(const node::SiteProgram& epilog, std::vector<std::string> variables) {
  const BootTime deadline = os::boot_now() + epilog.timeout;
  std::erase_if(variables,
                [](const std::string& v) { return v.starts_with("ARES_SCRIPT_CONTEXT="); });
  variables.emplace_back("ARES_SCRIPT_CONTEXT=epilog_task");
  const pid_t child = ::fork();
  if (child < 0) return os::errno_error("cannot fork").message;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::vector<std::string> arguments{epilog.path};
    ::execve(epilog.path.c_str(), pointers(arguments).data(), pointers(variables).data());
    ::dprintf(2, "aresstepd: %s\n",
              os::errno_error("cannot execute " + epilog.path).message.c_str());
    ::_exit(127);
  }
  const std::optional<int> status = wait_for(child, deadline);
  ::kill(-child, SIGKILL);  // also what it left in its session
  if (!status) {
    (void)wait_for(child, std::nullopt);
    return "did not end within " + std::to_string(epilog.timeout.count()) + " s";
  }
  if (WIFSIGNALED(*status)) return "was ended by signal " + std::to_string(WTERMSIG(*status));
  if (WEXITSTATUS(*status) != 0) return "exited with " + std::to_string(WEXITSTATUS(*status));
  return {};
}

Status continue_as_child(const node::SiteProgram& epilog, std::vector<std::string> variables) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t script = ::fork();
  if (script <= 0) {
    if (script == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (script == 0) return {};
    return fail(os::errno_error("cannot fork for the task epilog"));
  }
  ::prctl(PR_SET_NAME, os::kWaitsForScript);
  const int status = wait_for(script, std::nullopt).value_or(0);
  if (const std::string wrong = run_task_epilog(epilog, std::move(variables)); !wrong.empty())
    ::dprintf(2, "aresstepd: the task epilog %s\n", wrong.c_str());
  end_as(status);
}

}  // namespace ares::stepd
