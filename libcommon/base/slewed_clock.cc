#include "base/slewed_clock.h"

#include <algorithm>

namespace ares {

Time SlewedClock::at(Time wall, Duration steady) {
  const Duration passed = std::max(Duration{0}, steady - steady_);
  const Duration most = passed / 100;
  const Duration wanted = wall - (now_ + passed);
  now_ += passed + std::clamp(wanted, -most, most);
  steady_ = std::max(steady_, steady);
  ahead_ = now_ - wall;
  return now_;
}

}  // namespace ares
