// Random: the only source of chance in a simulation; one 64-bit seed gives one schedule.
// Owned by the World; one thread.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace ares::sim {

// splitmix64: small, fast, good enough to choose schedules, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  Duration between(Duration low, Duration high) {
    return Duration(between(low.count(), high.count()));
  }
  bool percent(unsigned p) { return below(100) < p; }
  bool per_mille(unsigned p) { return below(1000) < p; }

 private:
  std::uint64_t state_;
};

}  // namespace ares::sim
