#include "node/idle_gpus.h"

#include <gtest/gtest.h>

namespace ares::node {
namespace {

using Verdict = IdleGpus::Verdict;
using std::chrono::seconds;

constexpr BootTime kStart{seconds(1000)};
const std::vector<GpuIndex> kBoth{GpuIndex(0), GpuIndex(1)};

GpuLook unclean(GpuIndex gpu, const std::string& why) {
  return std::map<GpuIndex, std::string>{{gpu, why}};
}

TEST(IdleGpus, NoneIsCleanBeforeALook) {
  IdleGpus gpus(kBoth, kStart);
  EXPECT_EQ(gpus.of(kBoth, kStart), Verdict::unknown);
  EXPECT_TRUE(gpus.start_look(kStart));
  EXPECT_FALSE(gpus.start_look(kStart)) << "one is under way";
  gpus.looked({}, kStart);
  EXPECT_EQ(gpus.of(kBoth, kStart), Verdict::clean);
  EXPECT_FALSE(gpus.next_deadline());
  EXPECT_EQ(gpus.fault(), "");
}

TEST(IdleGpus, AFreedGpuIsLookedAtAndHasTimeToClear) {
  IdleGpus gpus(kBoth, kStart);
  gpus.start_look(kStart);
  gpus.looked({}, kStart);
  gpus.set_taken({GpuIndex(1)}, kStart);
  EXPECT_FALSE(gpus.start_look(kStart + seconds(30)));
  const BootTime freed = kStart + seconds(40);
  gpus.set_taken({}, freed);
  EXPECT_EQ(gpus.of({GpuIndex(0)}, freed), Verdict::clean) << "the other one";
  EXPECT_EQ(gpus.of({GpuIndex(1)}, freed), Verdict::unknown);
  EXPECT_TRUE(gpus.start_look(freed));
  gpus.looked(unclean(GpuIndex(1), "in use"), freed);
  EXPECT_EQ(gpus.of({GpuIndex(1)}, freed), Verdict::unknown);
  EXPECT_EQ(gpus.fault(), "");
  EXPECT_EQ(gpus.next_deadline(), freed + seconds(1));
  EXPECT_FALSE(gpus.start_look(freed));
  EXPECT_TRUE(gpus.start_look(freed + seconds(5)));
  gpus.looked(unclean(GpuIndex(1), "in use"), freed + seconds(5));
  EXPECT_EQ(gpus.of({GpuIndex(1)}, freed + seconds(5)), Verdict::unclean);
  EXPECT_EQ(gpus.of({GpuIndex(0)}, freed + seconds(5)), Verdict::clean);
  EXPECT_EQ(gpus.fault(), "GPU 1 is not clean: in use");
  EXPECT_TRUE(gpus.start_look(freed + seconds(15)));
  gpus.looked({}, freed + seconds(15));
  EXPECT_EQ(gpus.of(kBoth, freed + seconds(15)), Verdict::clean);
  EXPECT_EQ(gpus.fault(), "");
}

// What it saw may be from before the end of the job.
TEST(IdleGpus, ALookThatBeganBeforeAGpuWasFreedDoesNotCount) {
  IdleGpus gpus(kBoth, kStart);
  gpus.set_taken({GpuIndex(0)}, kStart);
  gpus.start_look(kStart);
  gpus.set_taken({}, kStart + seconds(1));
  gpus.looked({}, kStart + seconds(2));
  EXPECT_EQ(gpus.of({GpuIndex(0)}, kStart + seconds(2)), Verdict::unknown);
  EXPECT_EQ(gpus.of({GpuIndex(1)}, kStart + seconds(2)), Verdict::clean);
  EXPECT_TRUE(gpus.start_look(kStart + seconds(2)));
}

TEST(IdleGpus, WhatWasSeenLongAgoIsLookedAtAgain) {
  IdleGpus gpus(kBoth, kStart);
  gpus.start_look(kStart);
  gpus.looked({}, kStart);
  const BootTime later = kStart + std::chrono::hours(1);
  EXPECT_FALSE(gpus.start_look(later)) << "not before a job wants it";
  EXPECT_EQ(gpus.of({GpuIndex(0)}, later), Verdict::unknown);
  EXPECT_TRUE(gpus.start_look(later));
  gpus.looked(unclean(GpuIndex(0), "in use"), later);
  EXPECT_EQ(gpus.of({GpuIndex(0)}, later), Verdict::unclean) << "it was free long enough";
}

TEST(IdleGpus, GpusThatCannotBeLookedAtAreAFaultOfTheNode) {
  IdleGpus gpus(kBoth, kStart);
  gpus.start_look(kStart);
  gpus.looked(fail(ErrorCode::unavailable, "no answer within 60 s"), kStart + seconds(60));
  EXPECT_EQ(gpus.fault(), "the state of its GPUs cannot be read: no answer within 60 s");
  EXPECT_EQ(gpus.of({GpuIndex(0)}, kStart + seconds(60)), Verdict::unclean);
  EXPECT_TRUE(gpus.start_look(kStart + seconds(70)));
  gpus.looked({}, kStart + seconds(71));
  EXPECT_EQ(gpus.fault(), "");
}

TEST(IdleGpus, AJobMayShareAGpuThatAnotherHas) {
  IdleGpus gpus(kBoth, kStart);
  gpus.set_taken({GpuIndex(0)}, kStart);
  EXPECT_EQ(gpus.of({GpuIndex(0)}, kStart), Verdict::clean);
}

}  // namespace
}  // namespace ares::node
