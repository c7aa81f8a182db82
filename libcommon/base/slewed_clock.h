// SlewedClock: a time that follows a wall clock and never jumps. It advances with a steady clock and approaches the
// wall clock by at most 1 % of the time that passes, as NTP does when it slews a clock.
// A value, for one thread. It reads no clock itself.
#pragma once

#include "base/time.h"

namespace ares {

class SlewedClock {
 public:
  // Shows `start` at the reading `steady` of a steady clock, whose zero does not matter.
  SlewedClock(Time start, Duration steady) : now_(start), steady_(steady) {}

  // The time at these readings. It never goes back: an earlier `steady` counts as the last one.
  Time at(Time wall, Duration steady);

  // How far it was ahead of the wall clock at the last reading; negative: behind.
  Duration ahead() const { return ahead_; }

 private:
  Time now_;
  Duration steady_;
  Duration ahead_{};
};

}  // namespace ares
