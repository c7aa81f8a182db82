#include "aresstepd/task_epilog.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>

#include "aresstepd/script_child.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/process/exec_words.h"

namespace ares::stepd {

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
    ::execve(epilog.path.c_str(), os::exec_words(arguments).data(),
             os::exec_words(variables).data());
    ::dprintf(2, "aresstepd: %s\n",
              os::errno_error("cannot execute " + epilog.path).message.c_str());
    ::_exit(127);
  }
  const std::optional<int> status = wait_for_child(child, deadline);
  ::kill(-child, SIGKILL);  // also what it left in its session
  if (!status) {
    (void)wait_for_child(child, std::nullopt);
    return "did not end within " + std::to_string(epilog.timeout.count()) + " s";
  }
  if (WIFSIGNALED(*status)) return "was ended by signal " + std::to_string(WTERMSIG(*status));
  if (WEXITSTATUS(*status) != 0) return "exited with " + std::to_string(WEXITSTATUS(*status));
  return {};
}

}  // namespace ares::stepd
