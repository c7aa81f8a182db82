#include "aresctld/engine/state_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ares::aresctld {

Result<StateDir> StateDir::take(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorCode::failed_precondition,
                "cannot create controller.state_dir " + path + ": " + std::strerror(errno));
  const std::string file = path + "/lock";
  const int lock = open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock < 0)
    return fail(ErrorCode::failed_precondition,
                "cannot open " + file + ": " + std::strerror(errno));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    close(lock);
    return fail(ErrorCode::failed_precondition,
                "another controller runs on " + path +
                    "; stop it or give this one its own controller.state_dir");
  }
  return StateDir(lock, path + "/high-water");
}

StateDir::StateDir(StateDir&& other) noexcept
    : lock_(std::exchange(other.lock_, -1)), high_water_(std::move(other.high_water_)) {}

StateDir::~StateDir() {
  if (lock_ >= 0) close(lock_);
}

}  // namespace ares::aresctld
