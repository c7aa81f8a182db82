// ProgressBar: a progress bar on standard error during a long run. Prints nothing if standard error is
// not a terminal. Owned by main; one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace ares::sim {

class ProgressBar {
 public:
  explicit ProgressBar(std::uint64_t jobs);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `over`: ended jobs; `elapsed`: virtual time since the begin. Redraws a few times a second.
  void show(std::uint64_t over, Duration elapsed);

 private:
  using Clock = std::chrono::steady_clock;

  const std::uint64_t jobs_;
  const bool terminal_;
  const Clock::time_point begin_;
  Clock::time_point next_;
  bool drawn_ = false;
};

}  // namespace ares::sim
