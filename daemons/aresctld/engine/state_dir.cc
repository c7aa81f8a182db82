#include "aresctld/engine/state_dir.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
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
    : lock_(std::exchange(other.lock_, -1)),
      high_water_(std::move(other.high_water_)),
      written_(other.written_),
      unwritten_(std::move(other.unwritten_)) {}

StateDir::~StateDir() {
  if (lock_ < 0) return;
  // Without this an older copy, restored while the controller is stopped, might not be detected.
  if (unwritten_)
    if (auto saved = high_water_.save(*unwritten_); !saved)
      spdlog::warn("{}", saved.error().message);
  close(lock_);
}

void StateDir::remember(const store::HighWaterMark& mark) {
  const auto now = std::chrono::steady_clock::now();
  unwritten_ = mark;
  if (now - written_ < std::chrono::seconds(1)) return;
  written_ = now;
  // A failure matters only if the database is rolled back too; even then the nodes know their lsn.
  if (auto saved = high_water_.save(mark); saved)
    unwritten_.reset();
  else
    spdlog::warn("{}", saved.error().message);
}

}  // namespace ares::aresctld
