#include "aalloc/command.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/values/job_ids.h"
#include "os/clock.h"
#include "os/process/exec_words.h"
#include "step_client/reach.h"

extern char** environ;

namespace ares::aalloc {
namespace {

constexpr int kSignalled = 128;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
constexpr Duration kBetweenTries = std::chrono::seconds(2);

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable) variables.emplace_back(*variable);
  return variables;
}

[[noreturn]] void execute(const std::string& program, std::vector<std::string> words,
                          std::vector<std::string> variables, const sigset_t& mask) {
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGTTOU, SIG_DFL);
  std::vector<char*> environment = os::exec_words(variables);
  environ = environment.data();
  const std::vector<char*> arguments = os::exec_words(words);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  std::fprintf(stderr, "%s: cannot execute %s: %s\n", program.c_str(), arguments[0],
               std::strerror(error));
  ::_exit(error == ENOENT ? kNotFound : kNotExecutable);
}

// The process of the command, and the signals about it.
class Command {
 public:
  Command(const std::string& program, const std::vector<std::string>& words,
          const std::vector<std::string>& variables) {
    sigset_t handled = step_client::ending_signals();
    ::sigaddset(&handled, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &handled, nullptr);
    signals_.reset(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
    ::signal(SIGTTOU, SIG_IGN);  // to take the terminal back from a shell
    sigset_t none;
    ::sigemptyset(&none);
    pid_ = ::fork();
    if (pid_ == 0) execute(program, words, variables, none);
  }
  bool started() const { return pid_ > 0 && signals_; }
  int signals() const { return signals_.get(); }
  void signal(int number) const { ::kill(pid_, number); }

  // The exit status, once it has ended. Ctrl-C reaches the command by itself: it is in the same terminal.
  std::optional<int> read_signals() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const int number = static_cast<int>(info.ssi_signo);
      const bool from_terminal =
          (number == SIGINT || number == SIGQUIT) && info.ssi_code == SI_KERNEL;
      if (number != SIGCHLD && !from_terminal) signal(number);
    }
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    if (::isatty(0)) ::tcsetpgrp(0, ::getpgrp());
    return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  os::Fd signals_;
  pid_t pid_ = -1;
};

}  // namespace

Result<int> run_command(const std::vector<std::string>& words, step_client::Allocation& allocation,
                        std::optional<int> kill_with) {
  Command command(allocation.program(), words,
                  step_client::merged(own_environment(), allocation.variables()));
  if (!command.started()) return fail(os::errno_error("cannot start " + words.front()));
  bool gone = false;
  BootTime next_try{};
  for (;;) {
    const bool lost = !gone && allocation.connection() < 0;
    const int wait = lost ? 1000 : -1;
    pollfd ready[] = {{command.signals(), POLLIN, 0},
                      {gone ? -1 : allocation.connection(), POLLIN, 0}};
    ::poll(ready, std::size(ready), wait);
    if (const std::optional<int> code = command.read_signals()) return *code;
    if (gone || (!lost && ready[1].revents == 0) || os::boot_now() < next_try) continue;
    const Status held = allocation.hold(command.signals());
    next_try = held ? BootTime{} : os::boot_now() + kBetweenTries;
    if (held || held.error().code == ErrorCode::unavailable) continue;
    gone = true;
    std::fprintf(stderr, "%s: Job allocation %s has been revoked.\n", allocation.program().c_str(),
                 cli::format_job_id(allocation.job()).c_str());
    if (kill_with) command.signal(*kill_with);
  }
}

}  // namespace ares::aalloc
