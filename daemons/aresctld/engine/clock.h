// Clock: the controller's time. Follows the machine's wall clock but never jumps: leases use this
// time, and a jump forward would fence nodes that are alive.
// Any thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/slewed_clock.h"
#include "base/time.h"

namespace ares::aresctld {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  // Gets one sentence for the log. Runs on the thread that reads the clock; must not read it again.
  using Report = std::function<void(const std::string&)>;

  // Starts at the wall clock, or at `recorded` if that is later: the time of the last change in the database. (The engine's time never
  // goes back, so it would not advance until the wall clock has reached it.) `report` is called when the two begin to differ by more
  // than kReported, each hour while they do, and when they agree again.
  explicit Clock(Time recorded = Time::min(), Report report = {});
  Clock(Time recorded, Report report, Time wall, Steady steady);  // for tests: with these readings

  static constexpr Duration kReported = std::chrono::seconds(10);

  // Never goes back. Approaches the wall clock by at most 1 % of the elapsed time; leases tolerate 5 %.
  Time now();

  // now() for given clock readings, for tests. `steady` must not go back.
  Time at(Time wall, Steady steady);

  // How far it was ahead of the wall clock when it was last read; negative: behind.
  Duration ahead() const;

 private:
  std::optional<std::string> news(Steady steady) ARES_REQUIRES(mutex_);

  mutable Mutex mutex_;
  SlewedClock slewed_ ARES_GUARDED_BY(mutex_);
  const Report report_;
  std::optional<Steady> reported_ ARES_GUARDED_BY(mutex_);  // since they differ: the last report
};

}  // namespace ares::aresctld
