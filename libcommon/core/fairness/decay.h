// Exponential decay of usage in integers, without libm: bounded errors, same on all machines.
// Pure; plain values, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "core/fairness/wide.h"

namespace ares::core::fairness {

// 2^-x = mantissa * 2^-(63 + shift), where 2^62 < mantissa <= 2^63. Relative error below 2^-55.
struct HalfPower {
  std::uint64_t mantissa = std::uint64_t{1} << 63;
  std::uint64_t shift = 0;
};

// 2^-(elapsed / half_life). One if `elapsed` is not positive or if half_life is 0 (no decay).
HalfPower decay_factor(Duration elapsed, Seconds half_life);

// decay_factor() for one half-life with a cache of some thousand entries, because amounts that
// decay together mostly have the same few ages. Not thread-safe.
class DecayFactors {
 public:
  explicit DecayFactors(Seconds half_life) : half_life_(half_life), known_(kKnown) {}

  HalfPower of(Duration elapsed) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    Known& known =
        known_[static_cast<std::uint64_t>(elapsed.count()) * kGolden >> (64 - kKnownBits)];
    if (known.elapsed != elapsed) known = {elapsed, decay_factor(elapsed, half_life_)};
    return known.factor;
  }

 private:
  static constexpr int kKnownBits = 13;
  static constexpr std::size_t kKnown = std::size_t{1} << kKnownBits;
  struct Known {
    Duration elapsed{};  // 0 in an empty entry, for which the factor 1 is correct
    HalfPower factor;
  };
  Seconds half_life_;
  std::vector<Known> known_;
};

// 2^-x as a double for x >= 0; 1 for x < 0; 0 for NaN.
double half_to_the(double x);

// TRES-seconds in units of 2^-32, so that an amount that decays every second is not lost to
// rounding. The range is 2^96 TRES-seconds.
struct Amount {
  U128 units = 0;
  friend constexpr auto operator<=>(const Amount&, const Amount&) = default;
  friend constexpr Amount operator+(Amount a, Amount b) { return {a.units + b.units}; }
};

constexpr Amount amount_of(std::uint64_t tres_seconds) {
  return {U128{tres_seconds} << 32};
}
double to_double(Amount amount);

// Rounded down. The error is below one unit plus 2^-55 of the amount.
Amount decayed(Amount amount, const HalfPower& factor);

// Decayed usage at `at` (not before `to`) of `rate` of a TRES used from `from` to `to`:
// rate * h/ln 2 * (2^-((at-to)/h) - 2^-((at-from)/h)). The error relative to rate * h is below 2^-53.
Amount accrued(std::uint64_t rate, Time from, Time to, Time at, Seconds half_life);

// Usage that decays. Its amount at one time determines all later ones without periodic updates.
class DecayingUsage {
 public:
  DecayingUsage() = default;
  DecayingUsage(Amount amount, Time at) : amount_(amount), at_(at) {}

  // A time before the last update counts as the last update.
  Amount at(Time time, Seconds half_life) const;

  // Adds an amount given as of `time`. Sums at the same time are exact in any order; decaying a sum
  // differs from the sum of n decayed parts by less than n units plus their rounding errors.
  void add(Amount amount, Time time, Seconds half_life);

 private:
  Amount amount_;
  Time at_{};
};

}  // namespace ares::core::fairness
