// Decay: as exact as decay.h states, and independent of when and in which grouping it is applied.
#include "core/fairness/decay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ares::core::fairness {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Seconds kWeek{7 * 24 * 3600};
constexpr Time kStart{hours(400'000)};

long double value(const HalfPower& factor) {
  return std::ldexp(static_cast<long double>(factor.mantissa),
                    -63 - static_cast<int>(factor.shift));
}

TEST(Decay, HalvesExactly) {
  for (int n = 0; n < 40; ++n) {
    const Amount left = decayed(amount_of(std::uint64_t{1} << 40), decay_factor(n * kWeek, kWeek));
    EXPECT_EQ(left.units, amount_of(std::uint64_t{1} << 40).units >> n) << n;
  }
}

TEST(Decay, FactorIsWithinItsErrorBound) {
  std::mt19937_64 dice(1);
  for (int i = 0; i < 20'000; ++i) {
    const Seconds half(1 + static_cast<long>(dice() % 40'000'000));
    const Duration elapsed(static_cast<long>(dice() % 400'000'000'000'000));
    const HalfPower factor = decay_factor(elapsed, half);
    if (factor.shift > 200) continue;
    EXPECT_GT(factor.mantissa, std::uint64_t{1} << 62);
    EXPECT_LE(factor.mantissa, std::uint64_t{1} << 63);
    // The integer part is exact; the rest of the exponent is known to 2^-64.
    const long double rest =
        static_cast<long double>(elapsed.count() % Duration(half).count()) / Duration(half).count();
    const long double exact = std::exp2(-rest) * std::exp2(-static_cast<long double>(factor.shift));
    EXPECT_LT(std::abs(value(factor) / exact - 1), std::exp2(-55.0L))
        << elapsed.count() << " " << half.count();
  }
}

TEST(Decay, HalfToThePowerOfADoubleIsExact) {
  EXPECT_EQ(half_to_the(0), 1);
  EXPECT_EQ(half_to_the(1), 0.5);
  EXPECT_EQ(half_to_the(-3), 1);
  EXPECT_EQ(half_to_the(5000), 0);
  EXPECT_EQ(half_to_the(std::nan("")), 0);
  std::mt19937_64 dice(2);
  for (int i = 0; i < 20'000; ++i) {
    const double x = static_cast<double>(dice() >> 11) / 9007199254740992.0 * 40;
    EXPECT_NEAR(half_to_the(x) / std::exp2(-x), 1, 4e-16) << x;
  }
}

TEST(Decay, NothingDecaysWithoutHalfLifeOrTime) {
  EXPECT_EQ(decayed(amount_of(77), decay_factor(hours(1'000'000), Seconds(0))), amount_of(77));
  EXPECT_EQ(decayed(amount_of(77), decay_factor(Duration(0), kWeek)), amount_of(77));
  EXPECT_EQ(decayed(amount_of(77), decay_factor(hours(-5), kWeek)), amount_of(77))
      << "usage does not grow by looking back";
}

TEST(Decay, DecayInTwoStepsEqualsOneDecay) {
  std::mt19937_64 dice(3);
  for (int i = 0; i < 5'000; ++i) {
    const Amount start = amount_of(dice() >> 16);
    const Duration first(static_cast<long>(dice() % 2'000'000'000'000));
    const Duration second(static_cast<long>(dice() % 2'000'000'000'000));
    const Amount once = decayed(start, decay_factor(first + second, kWeek));
    const Amount twice =
        decayed(decayed(start, decay_factor(first, kWeek)), decay_factor(second, kWeek));
    const double gap = std::abs(to_double(once) - to_double(twice));
    EXPECT_LE(gap, 2 * std::ldexp(1, -32) + to_double(once) * 4 * std::ldexp(1, -53));
  }
}

// Cached or not, with collisions, and for negative times.
TEST(Decay, CachedFactorsAreTheFactors) {
  std::mt19937_64 dice(7);
  DecayFactors factors(kWeek);
  for (int i = 0; i < 100'000; ++i) {
    const Duration elapsed = seconds(dice() % 20'000) - seconds(10);
    const HalfPower remembered = factors.of(elapsed), anew = decay_factor(elapsed, kWeek);
    ASSERT_EQ(remembered.mantissa, anew.mantissa);
    ASSERT_EQ(remembered.shift, anew.shift);
  }
}

// n parts, added one by one, in another order, or as two sums: equal except for n units of 2^-32 s and the stated rounding.
TEST(Decay, SumsAreAssociative) {
  std::mt19937_64 dice(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> parts(1 + dice() % 50);
    for (auto& part : parts) part = dice() % 1'000'000'000;
    const Time later = kStart + seconds(dice() % 4'000'000);
    Amount sum, of_decayed;
    DecayingUsage added;
    for (const auto part : parts) {
      sum = sum + amount_of(part);
      of_decayed = of_decayed + DecayingUsage(amount_of(part), kStart).at(later, kWeek);
      added.add(amount_of(part), kStart, kWeek);
    }
    const Amount whole = DecayingUsage(sum, kStart).at(later, kWeek);
    EXPECT_EQ(added.at(later, kWeek), whole);
    EXPECT_LE(of_decayed.units, whole.units);
    EXPECT_LT(static_cast<std::uint64_t>(whole.units - of_decayed.units), parts.size() + 1);

    std::shuffle(parts.begin(), parts.end(), dice);
    DecayingUsage again;
    for (const auto part : parts) again.add(amount_of(part), kStart, kWeek);
    EXPECT_EQ(again.at(later, kWeek), whole);
  }
}

// One charge per second for an hour on top of old usage: the total of all rounding stays far below a second.
TEST(Decay, ManySmallStepsDoNotDrift) {
  DecayingUsage often(amount_of(1'000'000), kStart);
  for (int s = 1; s <= 3600; ++s) often.add(Amount{}, kStart + seconds(s), kWeek);
  const double once =
      to_double(DecayingUsage(amount_of(1'000'000), kStart).at(kStart + seconds(3600), kWeek));
  EXPECT_LT(once, 1'000'000 - 400) << "an hour of decay is seen";
  EXPECT_NEAR(to_double(often.at(kStart + seconds(3600), kWeek)), once, 1e-5);
}

TEST(Decay, LateChargesCountFromTheirTime) {
  DecayingUsage usage(amount_of(100), kStart + kWeek);
  usage.add(amount_of(100), kStart, kWeek);
  EXPECT_EQ(usage.at(kStart + kWeek, kWeek), amount_of(150));
}

// Compared with the sum over every second.
TEST(Decay, AccrualEqualsASumOverSeconds) {
  const Seconds half(5000);
  const Time from = kStart, to = kStart + seconds(20'000), at = to + seconds(3000);
  long double sum = 0;
  for (int s = 0; s < 20'000; ++s) sum += 8 * std::exp2(-(23'000.0L - s - 0.5L) / 5000);
  EXPECT_NEAR(to_double(accrued(8, from, to, at, half)), static_cast<double>(sum), 1e-3);

  EXPECT_EQ(accrued(8, from, to, at, Seconds(0)), amount_of(8 * 20'000)) << "no decay: a product";
  EXPECT_EQ(accrued(8, to, from, at, half), Amount{}) << "it has not begun";
  // Since always: rate * half-life / ln 2.
  EXPECT_NEAR(to_double(accrued(3, kStart - hours(300'000), kStart, kStart, kWeek)),
              3 * 604800 / std::log(2.0), 1e-6);
}

// The sum of two parts equals the whole.
TEST(Decay, AccrualIsAdditive) {
  std::mt19937_64 dice(5);
  for (int i = 0; i < 2'000; ++i) {
    const Time middle = kStart + seconds(dice() % 1'000'000);
    const Time end = middle + seconds(dice() % 1'000'000);
    const std::uint64_t rate = 1 + dice() % 10'000;
    const double whole = to_double(accrued(rate, kStart, end, end, kWeek));
    const double parts = to_double(accrued(rate, kStart, middle, end, kWeek)) +
                         to_double(accrued(rate, middle, end, end, kWeek));
    EXPECT_NEAR(whole, parts, 1e-6);
  }
}

}  // namespace
}  // namespace ares::core::fairness
