#include "exec/baremetal/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>

#include <csignal>

namespace ares::exec {
namespace {

// The two tables of posix_spawn, destroyed at the end of the scope.
struct SpawnTables {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  SpawnTables() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnTables() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnTables(const SpawnTables&) = delete;
  SpawnTables& operator=(const SpawnTables&) = delete;
};

}  // namespace

Result<os::Fd> spawn(std::vector<std::string> command, int passed, const std::string& log) {
  SpawnTables tables;
  ::posix_spawn_file_actions_addopen(&tables.files, 0, "/dev/null", O_RDWR, 0);
  if (log.empty()) {
    ::posix_spawn_file_actions_adddup2(&tables.files, 0, 1);
  } else {
    ::posix_spawn_file_actions_addopen(&tables.files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&tables.files, 1, 2);
  }
  ::posix_spawn_file_actions_adddup2(&tables.files, passed, kPassedFd);
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, kPassedFd + 1);
  sigset_t all, none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&tables.attributes, &all);
  ::posix_spawnattr_setsigmask(&tables.attributes, &none);
  ::posix_spawnattr_setflags(&tables.attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  char* environment[] = {nullptr};
  pid_t pid = 0;
  if (const int error = ::posix_spawn(&pid, command.front().c_str(), &tables.files,
                                      &tables.attributes, arguments.data(), environment);
      error != 0)
    return fail(os::errno_error("cannot start " + command.front(), error));
  return os::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace ares::exec
