#include "steps/core_binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::steps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two sockets of two cores of two threads: 0 and 4, 1 and 5; 2 and 6, 3 and 7.
const CpuLayout kMachine({{{0, 4}, 0, 0}, {{1, 5}, 0, 0}, {{2, 6}, 1, 1}, {{3, 7}, 1, 1}});
const std::vector<std::uint32_t> kAll = {0, 1, 2, 3, 4, 5, 6, 7};

std::vector<std::string> placed(const SharedCores& wanted,
                                const std::vector<std::uint32_t>& cpus = kAll) {
  const auto tasks = cpus_of_tasks(wanted, kMachine, cpus);
  if (!tasks) return {tasks.error().message};
  std::vector<std::string> texts;
  for (const IntervalSet& task : *tasks) texts.push_back(format_interval_set(task));
  return texts;
}

TEST(CoreBinding, SocketsTakeSoManyTasksEach) {
  EXPECT_THAT(placed({.tasks = 4, .tasks_per_socket = 2}), ElementsAre("0", "4", "2", "6"));
  EXPECT_THAT(placed({.tasks = 2, .tasks_per_socket = 1}), ElementsAre("0", "2"));
  EXPECT_THAT(placed({.tasks = 2, .cpus_per_task = 4, .tasks_per_socket = 1}),
              ElementsAre("0-1,4-5", "2-3,6-7"));
}

TEST(CoreBinding, CoresTakeSoManyTasksEach) {
  EXPECT_THAT(placed({.tasks = 4, .tasks_per_core = 1}), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(placed({.tasks = 4, .tasks_per_core = 2}), ElementsAre("0", "4", "1", "5"));
  EXPECT_THAT(placed({.tasks = 2, .cpus_per_task = 3, .tasks_per_core = 1}),
              ElementsAre("0-1,4", "2-3,6"));
  EXPECT_THAT(placed({.tasks = 2, .tasks_per_core = 1, .tasks_per_socket = 1}),
              ElementsAre("0", "2"));
}

TEST(CoreBinding, TasksThatDoNotFitAreRefused) {
  EXPECT_THAT(placed({.tasks = 3, .tasks_per_socket = 1})[0],
              HasSubstr("--ntasks-per-socket=1: the CPUs of the step here, on 2 sockets, hold 2 of "
                        "its 3 tasks"));
  EXPECT_THAT(placed({.tasks = 5, .tasks_per_core = 1})[0], HasSubstr("hold 4 of its 5 tasks"));
  EXPECT_THAT(placed({.tasks = 2, .tasks_per_socket = 1}, {0, 1, 4})[0], HasSubstr("on 1 socket"));
  EXPECT_THAT(placed({.tasks = 1, .cpus_per_task = 5, .tasks_per_socket = 1})[0],
              HasSubstr("hold 0 of its 1 task so"));
  EXPECT_THAT(placed({.tasks = 1, .tasks_per_core = 1}, {0, 9})[0], HasSubstr("CPU 9"));
  EXPECT_THAT(placed({.tasks = 1, .tasks_per_core = 1}, {})[0], HasSubstr("not known"));
  EXPECT_FALSE(cpus_of_tasks({.tasks = 1, .tasks_per_core = 1}, CpuLayout(), kAll));
}

}  // namespace
}  // namespace ares::steps
