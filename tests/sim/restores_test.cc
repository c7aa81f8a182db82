// Older copies of the database, restored under a cluster that goes on: nothing that was
// acknowledged disappears without a refusal, no number is given twice, nothing that the copy knows
// to have started starts again, and everything ends. ARES_SIM_SEED, ARES_SIM_SCHEDULES and
// ARES_SIM_TRACE as in schedules_test.cc.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "sim/world.h"

namespace ares::sim {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSchedules = 50;
#elif defined(__OPTIMIZE__)
constexpr std::uint64_t kSchedules = 3'000;
#else
constexpr std::uint64_t kSchedules = 200;
#endif

TEST(Restores, AreRefusedOrLoseNothing) {
  const std::uint64_t count = from_environment("ARES_SIM_SCHEDULES", kSchedules);
  const std::uint64_t first = from_environment("ARES_SIM_SEED", 1);
  std::uint64_t refusals = 0, jobs = 0, starts = 0, failed = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Options options;
    options.seed = first + i;
    options.restores = true;
    const Outcome outcome = run(options);
    refusals += outcome.refusals, jobs += outcome.jobs, starts += outcome.user_starts;
    if (!outcome.violation) continue;
    ADD_FAILURE() << report(options, outcome);
    if (++failed == from_environment("ARES_SIM_FAILURES", 1)) return;
  }
  // What would make the whole exercise hollow.
  EXPECT_TRUE(refusals > count / 2 || count < 100);
  EXPECT_GT(jobs, count);
  std::cout << count << " schedules: " << jobs << " jobs acknowledged, " << starts
            << " starts of user code, " << refusals << " refusals\n";
}

}  // namespace
}  // namespace ares::sim
