// The test of the simulation itself: eight bugs planted one at a time; the simulation must find each
// of them, and no violation in the same schedule without the bug.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "sim/world.h"

namespace ares::sim {
namespace {

constexpr std::uint64_t kWithin = 2000;  // schedules

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, AreFound) {
  for (std::uint64_t seed = 1; seed <= kWithin; ++seed) {
    Options options;
    options.seed = seed;
    options.mutant = GetParam();
    const Outcome outcome = run(options);
    if (!outcome.violation) continue;
    std::cout << name_of(GetParam()) << " found by schedule " << seed << ": " << *outcome.violation
              << "\n";
    options.mutant = Mutant::none;
    const Outcome healthy = run(options);
    EXPECT_FALSE(healthy.violation) << report(options, healthy);
    return;
  }
  FAIL() << name_of(GetParam()) << " was not found within " << kWithin << " schedules";
}

INSTANTIATE_TEST_SUITE_P(Planted, Mutants, testing::ValuesIn(kMutants),
                         [](const auto& p) { return name_of(p.param); });

}  // namespace
}  // namespace ares::sim
