// A node that stays away after every other fault has healed: all jobs on it end without its word, and
// when it comes back nothing that ended runs on, runs again or is charged again. ARES_SIM_SEED,
// ARES_SIM_SCHEDULES and ARES_SIM_TRACE as in schedules_test.cc.
#include <gtest/gtest.h>

#include <iostream>

#include "sim/schedules.h"

namespace ares::sim {
namespace {

constexpr std::uint64_t kSchedules = schedules_of_build(50, 2'000, 200);

TEST(DeadNodes, LeaveNoJobBehind) {
  Options options;
  options.dead_node = true;
  const Totals all = run_schedules(options, 1, kSchedules);
  if (HasFailure()) return;
  // The test is void if these never happen.
  EXPECT_TRUE(all.given_up > all.schedules / 2 || all.schedules < 100);
  EXPECT_GT(all.jobs, all.schedules);
  std::cout << all.schedules << " schedules: " << all.jobs << " jobs acknowledged, " << all.given_up
            << " attempts given up\n";
}

}  // namespace
}  // namespace ares::sim
