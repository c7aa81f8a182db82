#include "arun/beside.h"

#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "os/fd.h"
#include "os/process/exec_words.h"
#include "step_client/allocation.h"

namespace ares::arun {
namespace {

// Blocks the signals that end arun, and that of ended children, and reads them; afterwards they are as before.
class Signals {
 public:
  Signals() {
    sigset_t read = step_client::ending_signals();
    ::sigaddset(&read, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &read, &before_);
    fd_.reset(::signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~Signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool usable() const { return static_cast<bool>(fd_); }
  // Waits for signals, and passes those that end arun on to the child, unless the terminal has sent them to both.
  void wait_and_pass_on(pid_t child, std::optional<int>& first) const {
    pollfd ready{fd_.get(), POLLIN, 0};
    ::poll(&ready, 1, -1);
    signalfd_siginfo info;
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      if (!first) first = signal;
      if (info.ssi_code != SI_KERNEL) ::kill(child, signal);
    }
  }

 private:
  sigset_t before_{};
  os::Fd fd_;
};

// 0 or an error number of posix_spawnp(3).
int start(const std::string& path, std::vector<std::string> words,
          std::vector<std::string> environment, pid_t& child) {
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error =
      ::posix_spawnp(&child, path.c_str(), nullptr, &attributes, os::exec_words(words).data(),
                     os::exec_words(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

std::optional<int> run_beside(const BesideProgram& program, const std::vector<std::string>& words,
                              std::vector<std::string> environment) {
  if (program.path.empty()) return std::nullopt;
  std::vector<std::string> all{program.path};
  all.insert(all.end(), words.begin(), words.end());
  const Signals signals;
  pid_t child = 0;
  if (const int error = start(program.path, std::move(all), std::move(environment), child);
      error != 0) {
    std::fprintf(stderr, "arun: warning: cannot run the program of %s, %s: %s\n", program.option,
                 program.path.c_str(), std::strerror(error));
    return std::nullopt;
  }
  std::optional<int> first;
  int status = 0;
  pid_t ended = 0;
  // Without a descriptor for signals they wait until the program has ended.
  const int how = signals.usable() ? WNOHANG : 0;
  while ((ended = ::waitpid(child, &status, how)) == 0 || (ended < 0 && errno == EINTR))
    if (signals.usable()) signals.wait_and_pass_on(child, first);
  if (ended == child && status != 0)
    std::fprintf(stderr, "arun: warning: the program of %s, %s, failed with %s %d\n",
                 program.option, program.path.c_str(), WIFSIGNALED(status) ? "signal" : "code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return first;
}

}  // namespace ares::arun
