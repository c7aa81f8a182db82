// Time as Ares stores it: UTC microseconds. Nothing here reads a clock; callers pass the time.
// Plain values; any thread.
#pragma once

#include <chrono>

namespace ares {

using Duration = std::chrono::microseconds;
using Seconds = std::chrono::seconds;

// Wall time, UTC. In the controller it never goes back (maximum of last journaled time and clock).
using Time = std::chrono::sys_time<Duration>;

// CLOCK_BOOTTIME: advances during suspend; has no meaning on another machine or after a reboot.
struct BootClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock, duration>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

}  // namespace ares
