// Random: gives the same numbers for a seed on every machine and with every library. For
// simulations and tests, not for secrets. A plain value; one thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/time.h"

namespace ares {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
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
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(below(std::uint64_t{most} + 1));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  Duration between(Duration low, Duration high) {
    return Duration(between(low.count(), high.count()));
  }
  bool percent(unsigned p) { return below(100) < p; }
  bool per_mille(unsigned p) { return below(1000) < p; }
  template <class T>
  void shuffle(std::vector<T>& items) {  // Fisher-Yates
    for (std::size_t left = items.size(); left > 1; --left)
      std::swap(items[left - 1], items[below(left)]);
  }

  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  double exponential(double mean) { return -mean * std::log1p(-unit()); }
  // Log-uniform: each order of magnitude is equally likely. Precondition: 0 < low <= high.
  double log_uniform(double low, double high) { return low * std::pow(high / low, unit()); }

 private:
  std::uint64_t state_;
};

}  // namespace ares
