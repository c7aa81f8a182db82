// Random schedules: faults of every kind at random moments with a random workload. ARES_SIM_SEED:
// first seed; ARES_SIM_SCHEDULES: schedules of each of the four tests; ARES_SIM_FAILURES: failures
// until it stops; ARES_SIM_MUTANT: with this planted bug; ARES_SIM_TRACE=1: the whole trace.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "sim/world.h"

namespace ares::sim {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

Mutant planted() {
  const char* name = std::getenv("ARES_SIM_MUTANT");
  for (const Mutant mutant : kMutants)
    if (name && name_of(mutant) == name) return mutant;
  return Mutant::none;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSchedules = 150;
#elif defined(__OPTIMIZE__)
constexpr std::uint64_t kSchedules = 10'000;
#else
constexpr std::uint64_t kSchedules = 500;
#endif

class Schedules : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Schedules, ViolateNoInvariant) {
  const std::uint64_t count = from_environment("ARES_SIM_SCHEDULES", kSchedules);
  const std::uint64_t first = from_environment("ARES_SIM_SEED", 1 + GetParam() * 1'000'000'000);
  std::uint64_t starts = 0, steps = 0, jobs = 0, freezes = 0, checks = 0, failed = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Options options;
    options.seed = first + i;
    options.mutant = planted();
    const Outcome outcome = run(options);
    starts += outcome.user_starts, steps += outcome.steps, jobs += outcome.jobs;
    freezes += outcome.freezes, checks += outcome.stopped_by_check;
    if (!outcome.violation) continue;
    ADD_FAILURE() << report(options, outcome);
    if (++failed == from_environment("ARES_SIM_FAILURES", 1)) return;
  }
  // The test is void if these never happen.
  EXPECT_GT(jobs, count);
  EXPECT_GT(starts, count / 2);
  EXPECT_TRUE(checks > 0 || count < 100);
  std::cout << count << " schedules from seed " << first << ": " << steps << " steps, " << jobs
            << " jobs acknowledged, " << starts << " starts of user code, " << freezes
            << " freezes, " << checks << " controllers stopped by a check\n";
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
