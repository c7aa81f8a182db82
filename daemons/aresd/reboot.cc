#include "aresd/reboot.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace ares::aresd {
namespace {

std::string ending(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "exited with " + std::to_string(WEXITSTATUS(status));
}

int spawn(const std::string& program, const std::string& node, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&files, 0, 1);
  ::posix_spawn_file_actions_adddup2(&files, 0, 2);
  ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
  ::posix_spawn_file_actions_addchdir_np(&files, "/");
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);  // ignored by aresd
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", name = "ARES_NODE_NAME=" + node;
  std::string own = program;
  char* const words[] = {own.data(), nullptr};
  char* const environment[] = {path.data(), name.data(), nullptr};
  const int error = ::posix_spawn(&pid, program.c_str(), &files, &attributes, words, environment);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Status start_reboot(const std::string& program, const std::string& node,
                    std::function<void(const std::string& why)> failed) {
  pid_t pid = -1;
  if (const int error = spawn(program, node, pid); error != 0)
    return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
                program + ": " + std::strerror(error));
  std::thread([pid, program, failed = std::move(failed)] {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) failed(program + " " + ending(status));
  }).detach();
  return {};
}

}  // namespace ares::aresd
