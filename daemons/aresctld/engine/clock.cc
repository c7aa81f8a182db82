#include "aresctld/engine/clock.h"

#include <algorithm>

namespace ares::aresctld {
namespace {

Time wall_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace

Clock::Clock() : last_(wall_now()), last_steady_(std::chrono::steady_clock::now()) {}

Time Clock::now() {
  const Time wall = wall_now();
  return at(wall, std::chrono::steady_clock::now());
}

Time Clock::at(Time wall, std::chrono::steady_clock::time_point steady) {
  std::lock_guard lock(mutex_);
  const Duration passed =
      std::max(Duration{0}, std::chrono::duration_cast<Duration>(steady - last_steady_));
  const Duration most = passed / 100;
  const Duration wanted = wall - (last_ + passed);
  last_ += passed + std::clamp(wanted, -most, most);
  last_steady_ = std::max(last_steady_, steady);
  return last_;
}

}  // namespace ares::aresctld
