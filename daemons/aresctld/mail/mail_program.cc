#include "aresctld/mail/mail_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ares::aresctld {
namespace {

tl::unexpected<Error> failed(const std::string& what, int error) {
  return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
              what + std::strerror(error));
}

// Owns the two attribute objects of posix_spawn.
struct Tables {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  Tables() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~Tables() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
};

// Puts the text into a memfd: it is complete before the program starts, so no writer has to wait.
Result<int> file_of(const std::string& text) {
  const int fd = ::memfd_create("ares-mail", MFD_CLOEXEC);
  if (fd < 0) return failed("", errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      return failed("", error);
    }
    done += static_cast<std::size_t>(n);
  }
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

void describe_child(Tables& tables, int input) {
  ::posix_spawn_file_actions_adddup2(&tables.files, input, 0);
  ::posix_spawn_file_actions_addopen(&tables.files, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&tables.files, 1, 2);
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, 3);
  ::posix_spawn_file_actions_addchdir_np(&tables.files, "/");
  sigset_t none;
  sigset_t pipe;
  sigemptyset(&none);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);  // ignored by the controller
  ::posix_spawnattr_setsigmask(&tables.attributes, &none);
  ::posix_spawnattr_setsigdefault(&tables.attributes, &pipe);
  ::posix_spawnattr_setpgroup(&tables.attributes, 0);
  ::posix_spawnattr_setflags(
      &tables.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

// Excludes mail settings of the controller's user; undelivered mail must not fill its home.
constexpr const char* kEnvironment[] = {
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/",
    "MAILRC=/dev/null",
    "DEAD=/dev/null",
    "LANG=C.UTF-8",
    nullptr};

}  // namespace

Result<MailProgram> MailProgram::start(const std::vector<std::string>& words,
                                       const std::string& input) {
  const Result<int> file = file_of(input);
  if (!file) return fail(file.error());
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Tables tables;
  describe_child(tables, *file);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &tables.files, &tables.attributes, argv.data(),
                                  const_cast<char* const*>(kEnvironment));
  ::close(*file);
  if (error != 0) return failed("", error);
  MailProgram started(pid, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (started.watch_ < 0) return failed("its end cannot be watched: ", errno);
  return started;
}

MailProgram::~MailProgram() {
  if (pid_ > 0) kill();
  if (watch_ >= 0) ::close(watch_);
}

bool MailProgram::wait(std::chrono::milliseconds timeout) {
  if (pid_ < 0) return true;
  pollfd end{watch_, POLLIN, 0};
  if (::poll(&end, 1, static_cast<int>(timeout.count())) <= 0) return false;
  if (::waitpid(pid_, &status_, 0) == pid_) pid_ = -1;
  return pid_ < 0;
}

void MailProgram::kill() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void MailProgram::detach() {
  pid_ = -1;
}

std::string MailProgram::failure() const {
  if (WIFSIGNALED(status_)) return "was ended by signal " + std::to_string(WTERMSIG(status_));
  const int code = WEXITSTATUS(status_);
  return code == 0 ? std::string() : "exited with " + std::to_string(code);
}

}  // namespace ares::aresctld
