// Older copies of the database, restored under a cluster that goes on: nothing that was
// acknowledged disappears without a refusal, no number is given twice, nothing that the copy knows
// to have started starts again, and everything ends. ARES_SIM_SEED, ARES_SIM_SCHEDULES and
// ARES_SIM_TRACE as in schedules_test.cc.
#include <gtest/gtest.h>

#include <iostream>

#include "sim/schedules.h"

namespace ares::sim {
namespace {

constexpr std::uint64_t kSchedules = schedules_of_build(50, 3'000, 200);

TEST(Restores, AreRefusedOrLoseNothing) {
  Options options;
  options.restores = true;
  const Totals all = run_schedules(options, 1, kSchedules);
  if (HasFailure()) return;
  // The test is void if these never happen.
  EXPECT_TRUE(all.refusals > all.schedules / 2 || all.schedules < 100);
  EXPECT_GT(all.jobs, all.schedules);
  std::cout << all.schedules << " schedules: " << all.jobs << " jobs acknowledged, " << all.starts
            << " starts of user code, " << all.refusals << " refusals\n";
}

}  // namespace
}  // namespace ares::sim
