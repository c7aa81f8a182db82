// Clock: the controller's time. Follows the machine's wall clock but never jumps: leases use this
// time, and a jump forward would fence nodes that are alive.
// Any thread.
#pragma once

#include <chrono>
#include <mutex>

#include "base/time.h"

namespace ares::aresctld {

class Clock {
 public:
  // Starts at the present time of the wall clock.
  Clock();

  // Never goes back. Drifts towards the wall clock by at most 1 % of the
  // elapsed time, which is less than the 5 % that
  // leases tolerate.
  Time now();

  // now() for given clock readings, for tests. `steady` must not go back.
  Time at(Time wall, std::chrono::steady_clock::time_point steady);

 private:
  std::mutex mutex_;
  Time last_;
  std::chrono::steady_clock::time_point last_steady_;
};

}  // namespace ares::aresctld
