// Clock: the controller's time. Follows the machine's wall clock, but never jumps: leases are counted by it, and a jump forward would
// fence nodes that are alive.
// Any thread.
#pragma once

#include <chrono>
#include <mutex>

#include "base/time.h"

namespace ares::aresctld {

class Clock {
 public:
  // Takes the wall clock as it is.
  Clock();

  // Never goes back. Drifts towards the wall clock by at most 1 % of the time that passes: less than the 5 % that a lease allows for.
  Time now();

  // The same from given readings, for tests. `steady` does not go back.
  Time at(Time wall, std::chrono::steady_clock::time_point steady);

 private:
  std::mutex mutex_;
  Time last_;
  std::chrono::steady_clock::time_point last_steady_;
};

}  // namespace ares::aresctld
