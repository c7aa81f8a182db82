// Tests: agent
// CPUs of a suspended attempt: other attempts get them once its processes have stopped.
#include <gtest/gtest.h>

#include "unit/node/world.h"

namespace ares::node {
namespace {

constexpr AttemptKey kOther{{JobId(13), TaskIndex{}}, AttemptNo(1)};
constexpr Fence kOtherFence(60);

// One attempt runs on CPUs 0 and 1 and is told to stop.
class SuspendedAttempt : public testing::Test {
 protected:
  SuspendedAttempt() {
    world.welcome();
    prepare(kKey, Fence(50), {0, 1});
    world.tell(Go{kKey, Fence(50)});
    world.settle();
    EXPECT_EQ(world.phase(kKey), AttemptPhase::running);
    suspend(70);
  }
  void prepare(const AttemptKey& key, Fence fence, std::vector<std::uint32_t> cpus) {
    Prepare prepare = make_prepare(world, key, fence);
    prepare.launch.share.cpu_ids = std::move(cpus);
    world.tell(prepare);
    world.settle();
  }
  void suspend(std::uint64_t lsn) {
    world.tell(SetSuspended{kKey, Fence(50), Lsn(lsn), true, Seconds(60)});
    world.settle();
  }
  // As aresstepd does once its processes have stopped.
  void stopped(const AttemptKey& key, std::uint64_t lsn) {
    world.disk.directories.at(key)->records[Record::stopped] = encode(StoppedRecord{Lsn(lsn)});
    world.supervisors().noticed(key, StepNotice::running, world.now);
    world.settle();
  }

  World world;
};

TEST_F(SuspendedAttempt, ItsCpusAreGivenToAnotherOnceItHasStopped) {
  prepare(kOther, kOtherFence, {1, 2});
  EXPECT_FALSE(world.report(kOther)) << "it still runs on CPU 1";
  stopped(kKey, 70);
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

TEST_F(SuspendedAttempt, OtherCpusAreFreeAtOnce) {
  prepare(kOther, kOtherFence, {2, 3});
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

TEST_F(SuspendedAttempt, WithoutChosenCpusTheOtherWaitsAsWell) {
  prepare(kOther, kOtherFence, {});
  EXPECT_FALSE(world.report(kOther));
  stopped(kKey, 70);
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

TEST_F(SuspendedAttempt, ItsEndFreesTheCpusToo) {
  prepare(kOther, kOtherFence, {0});
  world.end_task(kKey, 0);
  world.settle();
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

TEST_F(SuspendedAttempt, AnotherThatIsCancelledMeanwhileNeverStarts) {
  prepare(kOther, kOtherFence, {0});
  world.tell(Kill{kOther, kOtherFence});
  stopped(kKey, 70);
  EXPECT_EQ(world.phase(kOther), AttemptPhase::never_ran);
  EXPECT_EQ(world.starts[kOther], 0);
}

TEST_F(SuspendedAttempt, EarlierSuspensionProvesNothing) {
  stopped(kKey, 70);
  world.tell(SetSuspended{kKey, Fence(50), Lsn(71), false, Seconds(60)});
  suspend(72);
  prepare(kOther, kOtherFence, {0});
  EXPECT_FALSE(world.report(kOther));
  stopped(kKey, 72);
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

// The controller repeats the suspension before it sends anything else.
TEST_F(SuspendedAttempt, RestartOfTheDaemonForgetsNothing) {
  stopped(kKey, 70);
  world.restart_daemon();
  world.welcome();
  suspend(70);
  prepare(kOther, kOtherFence, {0});
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

// A supervisor of an earlier release does not tell when its processes have stopped.
TEST_F(SuspendedAttempt, NothingWaitsForLongerThanTheGrace) {
  prepare(kOther, kOtherFence, {0});
  suspend(70);  // repeated: the time counts from the first
  world.advance(Seconds(64));
  EXPECT_FALSE(world.report(kOther));
  world.advance(Seconds(2));
  EXPECT_EQ(world.phase(kOther), AttemptPhase::ready);
}

TEST_F(SuspendedAttempt, OneThatIsResumedWaitsForTheOtherToStop) {
  stopped(kKey, 70);
  prepare(kOther, kOtherFence, {0});
  world.tell(Go{kOther, kOtherFence});
  world.settle();
  world.tell(SetSuspended{kOther, kOtherFence, Lsn(80), true, Seconds(60)});
  world.tell(SetSuspended{kKey, Fence(50), Lsn(81), false, {}});
  world.settle();
  EXPECT_EQ(world.running(kKey), 0) << "the other may still run on CPU 0";
  stopped(kOther, 80);
  EXPECT_EQ(world.running(kKey), 1);
}

}  // namespace
}  // namespace ares::node
