#include "os/process/spawn_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

#include <cerrno>
#include <cstring>

namespace ares::os {
namespace {

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

void describe_child(Tables& tables, const ProgramFiles& files) {
  // 2 first: it stands in for the others, and no descriptor of the caller's that is needed here has that number.
  ::posix_spawn_file_actions_addopen(&tables.files, 2, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&tables.files, files.input < 0 ? 2 : files.input, 0);
  ::posix_spawn_file_actions_adddup2(&tables.files, files.output < 0 ? 2 : files.output, 1);
  ::posix_spawn_file_actions_addclosefrom_np(&tables.files, 3);
  ::posix_spawn_file_actions_addchdir_np(&tables.files, "/");
  sigset_t none;
  sigset_t pipe;
  sigemptyset(&none);
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);  // ignored by daemons
  ::posix_spawnattr_setsigmask(&tables.attributes, &none);
  ::posix_spawnattr_setsigdefault(&tables.attributes, &pipe);
  ::posix_spawnattr_setpgroup(&tables.attributes, 0);
  ::posix_spawnattr_setflags(
      &tables.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Result<pid_t> spawn_program(const std::vector<std::string>& words, const ProgramFiles& files,
                            const std::vector<std::string>& environment) {
  Tables tables;
  describe_child(tables, files);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, words[0].c_str(), &tables.files, &tables.attributes,
                                  pointers(words).data(), pointers(environment).data());
  if (error != 0)
    return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
                std::strerror(error));
  return pid;
}

}  // namespace ares::os
