#include "steps/gpu_binding.h"

#include <gmock/gmock.h>

namespace ares::steps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Four GPUs, two near to each half of eight CPUs, and four tasks of two CPUs.
StepGpus step() {
  const auto set = [](const char* text) { return *parse_interval_set(text); };
  return {.gpus = {0, 1, 2, 3},
          .near_cpus = {set("0-3"), set("0-3"), set("4-7"), set("4-7")},
          .cpus_of_tasks = {set("0-1"), set("2-3"), set("4-5"), set("6-7")}};
}

std::vector<std::uint32_t> of(const char* bind, std::uint32_t task, const StepGpus& on = step()) {
  const auto gpus = gpus_of_task(*parse_gpu_bind(bind), on, task);
  EXPECT_TRUE(gpus) << gpus.error().message;
  return gpus ? *gpus : std::vector<std::uint32_t>{99};
}

TEST(StepGpuBinding, WithoutItEachTaskHasItsPartOrAll) {
  StepGpus divided = step();
  EXPECT_THAT(of("", 3), ElementsAre(0, 1, 2, 3));
  divided.gpus_per_task = 2;
  EXPECT_THAT(of("", 1, divided), ElementsAre(2, 3));
  EXPECT_THAT(of("verbose", 1, divided), ElementsAre(2, 3));
  EXPECT_THAT(of("per_task:2", 1, divided), ElementsAre(2, 3));
  EXPECT_THAT(of("none", 1, divided), ElementsAre(0, 1, 2, 3));
}

TEST(StepGpuBinding, ClosestAreNearACpuOfTheTask) {
  EXPECT_THAT(of("closest", 0), ElementsAre(0, 1));
  EXPECT_THAT(of("closest", 3), ElementsAre(2, 3));
  StepGpus other = step();
  other.cpus_of_tasks[0] = *parse_interval_set("3-4");
  EXPECT_THAT(of("closest", 0, other), ElementsAre(0, 1, 2, 3)) << "near to both";
  other.near_cpus.clear();
  EXPECT_THAT(of("closest", 1, other), ElementsAre(0, 1, 2, 3)) << "not known";
  other = step();
  other.gpus = {0, 3};
  EXPECT_THAT(of("closest", 2, other), ElementsAre(3)) << "only those of the step";
  other.gpus.clear();
  EXPECT_THAT(of("closest", 2, other), IsEmpty());
  EXPECT_THAT(of("single:1", 2, other), IsEmpty());
}

TEST(StepGpuBinding, SingleFillsTheNearGpusInTurn) {
  for (const auto& [bind, expected] :
       {std::pair{"single:1", std::vector<std::uint32_t>{0, 1, 2, 3}},
        {"single:2", {0, 0, 2, 2}}}) {
    std::vector<std::uint32_t> gpus;
    for (std::uint32_t task = 0; task < 4; ++task) {
      const auto one = of(bind, task);
      ASSERT_EQ(one.size(), 1U);
      gpus.push_back(one[0]);
    }
    EXPECT_EQ(gpus, expected) << bind;
  }
  StepGpus few = step();
  few.gpus = {1};
  EXPECT_THAT(of("single:1", 3, few), ElementsAre(1)) << "more tasks than it should have";
}

TEST(StepGpuBinding, ListsCountTheGpusOfTheStep) {
  StepGpus some = step();
  some.gpus = {1, 3};
  EXPECT_THAT(of("map_gpu:1,0", 0, some), ElementsAre(3));
  EXPECT_THAT(of("map_gpu:1,0", 1, some), ElementsAre(1));
  EXPECT_THAT(of("map_gpu:1,0", 2, some), ElementsAre(3)) << "it starts again";
  EXPECT_THAT(of("mask_gpu:0x3", 0, some), ElementsAre(1, 3));
  const auto wrong = gpus_of_task(*parse_gpu_bind("map:2"), some, 0);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("names GPU 2, and the step has GPUs 0 to 1 here"));
}

}  // namespace
}  // namespace ares::steps
