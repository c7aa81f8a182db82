#include "aresctld/notify/sender_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/process/spawn_program.h"

namespace ares::aresctld {
namespace {

tl::unexpected<Error> failed(const std::string& what, int error) {
  return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
              what + std::strerror(error));
}

Result<os::Fd> memory_file() {
  os::Fd file(::memfd_create("ares-notify", MFD_CLOEXEC));
  if (!file) return failed("", errno);
  return file;
}

// Puts the text into a memfd: it is complete before the program starts, so no writer has to wait.
Result<os::Fd> file_of(const std::string& text) {
  Result<os::Fd> file = memory_file();
  if (!file) return file;
  const int fd = file->get();
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("", errno);
    done += static_cast<std::size_t>(n);
  }
  ::lseek(fd, 0, SEEK_SET);
  return file;
}

// Excludes mail settings of the controller's user; undelivered mail must not fill its home.
const std::vector<std::string> kEnvironment = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/",
    "MAILRC=/dev/null", "DEAD=/dev/null", "LANG=C.UTF-8"};

}  // namespace

Result<SenderProcess> SenderProcess::start(const std::vector<std::string>& words,
                                           const std::string& input, Output output) {
  const Result<os::Fd> file = file_of(input);
  if (!file) return fail(file.error());
  os::Fd kept;
  if (output == Output::kept) {
    Result<os::Fd> made = memory_file();
    if (!made) return fail(made.error());
    kept = std::move(*made);
  }
  const Result<pid_t> pid =
      os::spawn_program(words, {file->get(), kept ? kept.get() : -1}, kEnvironment);
  if (!pid) return fail(pid.error());
  SenderProcess started(*pid, os::Fd(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0))),
                        std::move(kept));
  if (!started.watch_) return failed("its end cannot be watched: ", errno);
  return started;
}

SenderProcess::~SenderProcess() {
  if (pid_ > 0) kill();
}

bool SenderProcess::wait(std::chrono::milliseconds timeout) {
  if (pid_ < 0) return true;
  pollfd end{watch_.get(), POLLIN, 0};
  if (::poll(&end, 1, static_cast<int>(timeout.count())) <= 0) return false;
  if (::waitpid(pid_, &status_, 0) == pid_) pid_ = -1;
  return pid_ < 0;
}

void SenderProcess::kill() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void SenderProcess::detach() {
  pid_ = -1;
}

std::string SenderProcess::output() const {
  constexpr std::size_t kMost = 64 << 10;
  std::string text(kMost, '\0');
  const ssize_t n = !output_ ? 0 : ::pread(output_.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::optional<int> SenderProcess::exit_code() const {
  if (WIFSIGNALED(status_)) return std::nullopt;
  return WEXITSTATUS(status_);
}

std::string SenderProcess::failure() const {
  if (WIFSIGNALED(status_)) return "was ended by signal " + std::to_string(WTERMSIG(status_));
  const int code = WEXITSTATUS(status_);
  return code == 0 ? std::string() : "exited with " + std::to_string(code);
}

}  // namespace ares::aresctld
