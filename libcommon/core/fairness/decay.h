// Exponential decay of usage, exact to the bounds given here and the same on every machine: integers only, no libm.
// Pure; plain values, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "core/fairness/wide.h"

namespace ares::core::fairness {

// 2^-x: mantissa * 2^-(63 + shift), mantissa from 2^62 (not included) to 2^63. Its relative error is below 2^-55.
struct HalfPower {
  std::uint64_t mantissa = std::uint64_t{1} << 63;
  std::uint64_t shift = 0;
};

// 2^-(elapsed / half_life). One where nothing has elapsed (nor below), or nothing ever decays: half_life 0.
HalfPower decay_factor(Duration elapsed, Seconds half_life);

// The same for one half-life, remembering some thousands of the last: much that decays together was brought to the same few
// times. Not thread-safe.
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
    Duration elapsed{};  // nothing at first, and then nothing has decayed
    HalfPower factor;
  };
  Seconds half_life_;
  std::vector<Known> known_;
};

// 2^-x as a double, for x from 0 up; 1 for what is below, 0 for what is not a number.
double half_to_the(double x);

// TRES-seconds in units of 2^-32: fine enough that an amount decayed every second does not get stuck at a rounding step.
// Room for 2^96 of them.
struct Amount {
  U128 units = 0;
  friend constexpr auto operator<=>(const Amount&, const Amount&) = default;
  friend constexpr Amount operator+(Amount a, Amount b) { return {a.units + b.units}; }
};

constexpr Amount amount_of(std::uint64_t tres_seconds) {
  return {U128{tres_seconds} << 32};
}
double to_double(Amount amount);

// Rounded down: less than one unit and 2^-55 of itself too small or too large.
Amount decayed(Amount amount, const HalfPower& factor);

// What `rate` of a TRES, used from `from` to `to`, comes to at `at`, which is not before `to`: each moment's use decays from
// then on, rate * h/ln 2 * (2^-((at-to)/h) - 2^-((at-from)/h)). Relative to rate * h its error is below 2^-53.
Amount accrued(std::uint64_t rate, Time from, Time to, Time at, Seconds half_life);

// Usage that decays by itself: what it was at one time says what it is at every later one. Nothing has to pass over all of them.
class DecayingUsage {
 public:
  DecayingUsage() = default;
  DecayingUsage(Amount amount, Time at) : amount_(amount), at_(at) {}

  // A time before the last one counts as the last one: usage does not grow by looking back.
  Amount at(Time time, Seconds half_life) const;

  // Adds what is of worth `amount` at `time`. Sums at one time are sums of integers: in any order and grouping they are equal,
  // and decaying a sum differs from the sum of n decayed parts by fewer than n units and their rounding.
  void add(Amount amount, Time time, Seconds half_life);

 private:
  Amount amount_;
  Time at_{};
};

}  // namespace ares::core::fairness
