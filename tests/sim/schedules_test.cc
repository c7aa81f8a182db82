// Random schedules: faults of every kind at random moments with a random workload. ARES_SIM_SEED:
// first seed; ARES_SIM_SCHEDULES: schedules of each of the four tests; ARES_SIM_FAILURES: failures
// until it stops; ARES_SIM_MUTANT: with this planted bug; ARES_SIM_TRACE=1: the whole trace.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "sim/schedules.h"

namespace ares::sim {
namespace {

Mutant planted() {
  const char* name = std::getenv("ARES_SIM_MUTANT");
  for (const Mutant mutant : kMutants)
    if (name && name_of(mutant) == name) return mutant;
  return Mutant::none;
}

constexpr std::uint64_t kSchedules = schedules_of_build(150, 10'000, 500);

class Schedules : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Schedules, ViolateNoInvariant) {
  Options options;
  options.mutant = planted();
  const Totals all = run_schedules(options, 1 + GetParam() * 1'000'000'000, kSchedules);
  if (HasFailure()) return;
  // The test is void if these never happen.
  EXPECT_GT(all.jobs, all.schedules);
  EXPECT_GT(all.starts, all.schedules / 2);
  EXPECT_TRUE(all.checks > 0 || all.schedules < 100);
  std::cout << all.schedules << " schedules from seed " << all.first << ": " << all.steps
            << " steps, " << all.jobs << " jobs acknowledged, " << all.starts
            << " starts of user code, " << all.freezes << " freezes, " << all.checks
            << " controllers stopped by a check\n";
}

INSTANTIATE_TEST_SUITE_P(Seeds, Schedules, testing::Values(0, 1, 2, 3));

TEST(Schedules, AreReproducibleFromTheSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Options options;
    options.seed = seed;
    const Outcome once = run(options);
    options.verbose = true;  // the trace must not change the schedule
    const Outcome again = run(options);
    EXPECT_EQ(once.trace_hash, again.trace_hash) << "seed " << seed;
    EXPECT_EQ(once.steps, again.steps) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ares::sim
