// Random: the same numbers from the same seed on every machine and with every library.
// A plain value; one thread.
#pragma once

#include <cmath>
#include <cstdint>

namespace ares::sim {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  double exponential(double mean) { return -mean * std::log1p(-unit()); }
  // Every size between the two, small and large alike: uniform in the logarithm. Precondition: 0 < low <= high.
  double log_uniform(double low, double high) { return low * std::pow(high / low, unit()); }

 private:
  std::uint64_t state_;
};

}  // namespace ares::sim
