// Every crash point of a small scenario: it runs once without faults to count the boundaries of
// each kind of process, then once for each boundary, with a crash exactly there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "sim/world.h"

namespace ares::sim {
namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 4;
constexpr std::uint64_t kStride = 1;
#else
constexpr std::uint64_t kSeeds = 1;
constexpr std::uint64_t kStride = 3;
#endif

class CrashPoints : public testing::TestWithParam<Actor> {};

TEST_P(CrashPoints, ViolateNoInvariant) {
  std::uint64_t tried = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Options options;
    options.seed = seed;
    options.fixed_scenario = true;
    const Outcome undisturbed = run(options);
    ASSERT_FALSE(undisturbed.violation) << report(options, undisturbed);
    const std::uint64_t count = undisturbed.boundaries[static_cast<std::size_t>(GetParam())];
    ASSERT_GT(count, 10u) << "the scenario does not touch this actor";
    for (std::uint64_t nth = 1 + seed % kStride; nth <= count; nth += kStride, ++tried) {
      options.crashes = {{GetParam(), nth}};
      const Outcome outcome = run(options);
      ASSERT_FALSE(outcome.violation) << report(options, outcome);
    }
  }
  std::cout << tried << " crashes of " << name_of(GetParam()) << "\n";
}

INSTANTIATE_TEST_SUITE_P(Actors, CrashPoints,
                         testing::Values(Actor::controller, Actor::aresd, Actor::stepd,
                                         Actor::power, Actor::database, Actor::fork_server),
                         [](const auto& p) { return std::string(name_of(p.param)); });

// Two crashes in one run, of any two kinds: chosen at random, because there are too many pairs.
TEST(CrashPoints, PairsViolateNoInvariant) {
  Options options;
  options.fixed_scenario = true;
  const Outcome undisturbed = run(options);
  ASSERT_FALSE(undisturbed.violation) << report(options, undisturbed);
  Random random(7);
  for (int i = 0; i < static_cast<int>(1500 * kSeeds / kStride); ++i) {
    options.crashes.clear();
    options.seed = 1 + random.below(1000);
    for (int k = 0; k < 2; ++k) {
      const auto actor = static_cast<Actor>(random.below(kActors));
      const std::uint64_t count = undisturbed.boundaries[static_cast<std::size_t>(actor)];
      options.crashes.push_back({actor, 1 + random.below(count)});
    }
    const Outcome outcome = run(options);
    ASSERT_FALSE(outcome.violation) << report(options, outcome);
  }
}

}  // namespace
}  // namespace ares::sim
