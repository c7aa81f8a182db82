// Tests: executor, agent_attempts
#include "node/agent.h"

#include <gtest/gtest.h>

#include "unit/node/world.h"

namespace ares::node {
namespace {

TEST(Agent, TakesAJobFromPrepareToForget) {
  World world;
  world.welcome();
  world.tell(make_prepare(world));
  world.settle();
  EXPECT_EQ(world.phase(kKey), AttemptPhase::ready);
  EXPECT_EQ(world.starts[kKey], 0);
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  EXPECT_EQ(world.phase(kKey), AttemptPhase::running);
  world.end_task(kKey, 4);
  world.settle();
  EXPECT_EQ(world.phase(kKey), AttemptPhase::done);
  EXPECT_EQ(world.report(kKey)->exit.code, 4);
  world.tell(Forget{kKey, Fence(50)});
  EXPECT_FALSE(world.report(kKey));
  EXPECT_TRUE(world.disk.directories.empty());

  std::vector<AttemptPhase> told;
  for (const Progress& p : sent<Progress>(world)) told.push_back(p.report.phase);
  EXPECT_EQ(told, (std::vector{AttemptPhase::ready, AttemptPhase::running, AttemptPhase::done}));
}

TEST(Agent, AnswersGoForWhatHasEndedHereThatItIsLost) {
  World world;
  world.welcome();
  const Prepare prepare = make_prepare(world);
  world.tell(prepare);
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  world.end_task(kKey, 0);
  world.settle();
  world.tell(Forget{kKey, Fence(50)});
  ASSERT_FALSE(world.report(kKey));
  // The controller that restored an older database asks for it, as running or as not yet started.
  world.tell(Go{kKey, Fence(50)});
  EXPECT_EQ(sent<Progress>(world).back().report.phase, AttemptPhase::lost);
  const std::size_t before = sent<Progress>(world).size();
  world.tell(prepare);
  EXPECT_EQ(sent<Progress>(world).size(), before + 1);
  EXPECT_EQ(sent<Progress>(world).back().report.phase, AttemptPhase::lost);
  EXPECT_TRUE(sent<LaunchRefused>(world).empty()) << "which would say that it never ran";
  EXPECT_FALSE(world.report(kKey));
}

TEST(Agent, RepeatedPrepareChangesNothing) {
  World world;
  world.welcome();
  const Prepare prepare = make_prepare(world);
  for (int i = 0; i < 3; ++i) world.tell(prepare);
  world.settle();
  world.tell(prepare);
  world.tell(Go{kKey, Fence(50)});
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  world.tell(prepare);
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  EXPECT_EQ(world.starts[kKey], 1);
  world.end_task(kKey, 0);
  world.settle();
  world.tell(prepare);
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  EXPECT_EQ(world.starts[kKey], 1);
}

TEST(Agent, RefusesLaunchesForAnEarlierIncarnation) {
  World world;
  world.welcome();
  Prepare old = make_prepare(world);
  world.lose_power();
  world.welcome();
  world.tell(old);
  world.settle();
  EXPECT_FALSE(world.report(kKey));
  ASSERT_EQ(sent<LaunchRefused>(world).size(), 1u);
  EXPECT_TRUE(sent<LaunchRefused>(world)[0].node_fault);
}

TEST(Agent, IgnoresAnOlderController) {
  World world;
  world.tell(Welcome{1, Seconds(300), Seconds(10)}, 5);
  world.tell(make_prepare(world), 4);
  world.settle();
  EXPECT_FALSE(world.report(kKey));
  world.restart_daemon();
  world.tell(make_prepare(world), 4);
  EXPECT_FALSE(world.report(kKey)) << "remembered over a restart";
  world.tell(make_prepare(world), 5);
  EXPECT_TRUE(world.report(kKey));
}

TEST(Agent, KillOfAnUnknownAttemptRefusesALaterPrepare) {
  World world;
  world.welcome();
  world.tell(Kill{kKey, Fence(50)});
  EXPECT_EQ(world.phase(kKey), AttemptPhase::never_ran);
  world.lose_power();
  world.welcome();
  EXPECT_EQ(world.phase(kKey), AttemptPhase::never_ran)
      << "the record of the cancellation is durable";
  world.tell(make_prepare(world));
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  EXPECT_EQ(world.starts[kKey], 0);
}

TEST(Agent, PrepareDelayedBeyondForgetIsNotStarted) {
  World world;
  world.welcome();
  const Prepare prepare = make_prepare(world);
  world.tell(prepare);
  world.settle();
  world.tell(Kill{kKey, Fence(50)});
  world.settle();
  world.tell(Forget{kKey, Fence(50)});
  for (int i = 0; i < 2; ++i) {
    world.tell(prepare);
    world.settle();
    EXPECT_FALSE(world.report(kKey));
    EXPECT_EQ(sent<Progress>(world).back().report.phase, AttemptPhase::lost);
    world.restart_daemon();
    world.welcome();
  }
}

TEST(Agent, AttemptIsKeptIfForgetCannotBeRecorded) {
  World world;
  world.welcome();
  const Prepare prepare = make_prepare(world);
  world.tell(prepare);
  world.settle();
  world.tell(Kill{kKey, Fence(50)});
  world.settle();
  const AttemptPhase ended = world.phase(kKey);
  world.disk.full = true;
  world.tell(Forget{kKey, Fence(50)});
  EXPECT_EQ(world.phase(kKey), ended);
  world.restart_daemon();
  world.welcome();
  world.tell(prepare);  // delayed in the network
  world.settle();
  EXPECT_EQ(world.phase(kKey), ended) << "it is not launched a second time";
  world.disk.full = false;
  world.tell(Forget{kKey, Fence(50)});
  EXPECT_FALSE(world.report(kKey));
}

TEST(Agent, ForgetOfALiveAttemptIsIgnored) {
  World world;
  world.welcome();
  world.tell(make_prepare(world));
  world.settle();
  world.tell(Forget{kKey, Fence(50)});
  world.tell(Forget{kKey, Fence(51)});
  EXPECT_EQ(world.phase(kKey), AttemptPhase::ready);
}

TEST(Agent, FullDiskIsANodeFaultAndLeavesNoFiles) {
  World world;
  world.welcome();
  world.disk.full = true;
  world.tell(make_prepare(world));
  world.settle();
  ASSERT_EQ(sent<LaunchRefused>(world).size(), 1u);
  EXPECT_TRUE(sent<LaunchRefused>(world)[0].node_fault);
  EXPECT_NE(sent<LaunchRefused>(world)[0].cause.find("No space"), std::string::npos);
  EXPECT_TRUE(world.disk.directories.empty());
  world.disk.full = false;
  world.tell(make_prepare(world));  // repeated: the refusal stays
  world.settle();
  EXPECT_EQ(sent<LaunchRefused>(world).size(), 2u);
  EXPECT_EQ(world.phase(kKey), AttemptPhase::never_ran);
}

TEST(Agent, UnknownUserIsAFaultOfTheJob) {
  World world;
  world.welcome();
  Prepare prepare = make_prepare(world);
  auto job = std::make_shared<JobSpec>(*prepare.launch.spec);
  job->uid = UserId(404);
  prepare.launch.spec = job;
  world.tell(prepare);
  ASSERT_EQ(sent<LaunchRefused>(world).size(), 1u);
  EXPECT_FALSE(sent<LaunchRefused>(world)[0].node_fault);
}

TEST(Agent, LaunchIsRefusedIfTheSupervisorCannotBeStarted) {
  World world;
  world.welcome();
  world.refuse_spawn = true;
  world.tell(make_prepare(world));
  world.settle();
  ASSERT_EQ(sent<LaunchRefused>(world).size(), 1u);
  EXPECT_TRUE(sent<LaunchRefused>(world)[0].node_fault);
}

TEST(Agent, ReportsAnEndedAttemptUntilForget) {
  World world;
  world.welcome();
  world.tell(make_prepare(world));
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  world.end_task(kKey, 9);
  world.settle();
  for (int i = 0; i < 3; ++i) {
    world.sent.clear();
    world.advance(Seconds(10));
    ASSERT_EQ(sent<Heartbeat>(world).size(), 1u);
    ASSERT_EQ(sent<Heartbeat>(world)[0].attempts.size(), 1u);
    EXPECT_EQ(sent<Heartbeat>(world)[0].attempts[0].exit.code, 9);
  }
}

TEST(Agent, LeaseCountsFromTheSendTimeOfTheHeartbeat) {
  World world;
  world.tell(Welcome{world.agent().incarnation(), Seconds(300), Seconds(10)});
  const std::uint64_t sequence = world.last_heartbeat;
  const BootTime sent_at = world.now.boot;
  EXPECT_FALSE(world.agent().lease_until());
  world.now.boot += Seconds(7);
  world.tell(HeartbeatAck{sequence});
  ASSERT_TRUE(world.agent().lease_until());
  EXPECT_EQ(*world.agent().lease_until(), sent_at + Seconds(300));
  world.now.boot += Seconds(7);
  world.tell(HeartbeatAck{sequence});      // repeated
  world.tell(HeartbeatAck{sequence + 5});  // of no heartbeat that was sent
  EXPECT_EQ(*world.agent().lease_until(), sent_at + Seconds(300));
}

TEST(Agent, AcknowledgementFromBeforeARestartRenewsNothing) {
  World world;
  world.welcome();
  world.advance(Seconds(10));
  const std::uint64_t old = world.last_heartbeat;
  world.advance(Seconds(5));
  world.restart_daemon();
  world.tell(Welcome{world.agent().incarnation(), Seconds(300), Seconds(10)});
  for (std::uint64_t s = old - 3; s <= old; ++s) world.tell(HeartbeatAck{s});
  EXPECT_FALSE(world.agent().lease_until());
}

TEST(Agent, ExpiredLeaseFreezesLeasedJobsUntilRenewal) {
  World world;
  world.welcome(Seconds(60));
  const AttemptKey free_key{{JobId(13), TaskIndex{}}, AttemptNo(1)};
  Prepare leased = make_prepare(world);
  leased.launch.leased = true;
  world.tell(leased);
  world.tell(make_prepare(world, free_key, Fence(51)));
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.tell(Go{free_key, Fence(51)});
  world.settle();
  EXPECT_EQ(world.running(kKey), 1);
  world.advance(Seconds(61));
  EXPECT_EQ(world.running(kKey), 0);
  EXPECT_EQ(world.running(free_key), 1);
  world.advance(Seconds(600));
  world.tell(HeartbeatAck{world.last_heartbeat});
  world.settle();
  EXPECT_EQ(world.running(kKey), 1);
  EXPECT_EQ(world.starts[kKey], 1);
}

TEST(Agent, GoWaitsForALeaseWithoutBeingRepeated) {
  World world;
  Prepare leased = make_prepare(world);
  leased.launch.leased = true;
  world.tell(leased);
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  EXPECT_EQ(world.starts[kKey], 0);
  world.welcome();
  world.settle();
  EXPECT_EQ(world.starts[kKey], 1);
}

// Regression: the controller starts the next attempt as soon as this one is reported as lost.
TEST(Agent, AttemptIsLostOnlyAfterItsLastProcessHasEnded) {
  World world;
  world.welcome();
  world.tell(make_prepare(world));
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  ASSERT_EQ(world.phase(kKey), AttemptPhase::running);
  world.remains = {Remains::dying, "confirm it"};
  world.kill_step(kKey);
  world.settle();
  world.advance(Seconds(1));
  EXPECT_EQ(world.phase(kKey), AttemptPhase::running);
  EXPECT_EQ(world.report(kKey)->detail, "") << "killed processes need a moment to exit";
  world.advance(Seconds(15));
  EXPECT_EQ(world.phase(kKey), AttemptPhase::running);
  EXPECT_EQ(world.report(kKey)->detail, "confirm it");
  world.restart_daemon();
  world.settle();
  EXPECT_EQ(world.phase(kKey), AttemptPhase::running)
      << "a restarted daemon does not report it as lost either";
  world.remains = {};
  world.advance(Seconds(3));
  EXPECT_EQ(world.phase(kKey), AttemptPhase::lost);
}

TEST(Agent, LaterAttemptKillsAnEarlierOneAndIsNeverReplacedByIt) {
  World world;
  world.welcome(Seconds(60));
  Prepare first = make_prepare(world);
  first.launch.leased = true;
  world.tell(first);
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.settle();
  world.advance(Seconds(100));  // frozen; the controller fences it and starts the next attempt
  const AttemptKey second{kKey.job, AttemptNo(2)};
  world.tell(make_prepare(world, second, Fence(90)));
  world.settle();
  EXPECT_EQ(world.phase(kKey), AttemptPhase::done);
  EXPECT_EQ(world.report(kKey)->exit.signal, 9);
  EXPECT_EQ(world.phase(second), AttemptPhase::ready);

  const AttemptKey stale{kKey.job, AttemptNo(3)};
  world.tell(make_prepare(world, stale, Fence(80)));
  EXPECT_FALSE(world.report(stale));
}

TEST(Agent, PowerLossLosesRunningAttemptsAndKeepsResults) {
  World world;
  world.welcome();
  const AttemptKey ended{{JobId(13), TaskIndex{}}, AttemptNo(1)};
  world.tell(make_prepare(world));
  world.tell(make_prepare(world, ended, Fence(51)));
  world.settle();
  world.tell(Go{kKey, Fence(50)});
  world.tell(Go{ended, Fence(51)});
  world.settle();
  world.end_task(ended, 3);
  world.settle();
  world.lose_power();
  // No record of the running attempt was synced, so it is gone; the controller knows from the incarnation.
  const Register last = sent<Register>(world).back();
  ASSERT_EQ(last.attempts.size(), 1u);
  EXPECT_EQ(last.attempts[0].attempt, ended);
  EXPECT_EQ(last.attempts[0].fence, Fence(51));
  EXPECT_EQ(last.attempts[0].phase, AttemptPhase::done);
  EXPECT_EQ(last.attempts[0].exit.code, 3);
}

TEST(Agent, RunsTheRebootProgramOnceForTheBootThatIsToEnd) {
  World world;
  int runs = 0;
  world.reboot = [&runs]() -> Status {
    ++runs;
    return {};
  };
  world.restart_daemon();
  world.welcome();
  const std::uint64_t incarnation = world.agent().incarnation();
  world.tell(Reboot{incarnation - 1});
  EXPECT_EQ(runs, 0) << "of an earlier boot";
  for (int i = 0; i < 3; ++i) world.tell(Reboot{incarnation});
  EXPECT_EQ(runs, 1);
}

TEST(Agent, ReportsThatItCannotReboot) {
  World world;
  world.welcome();
  EXPECT_EQ(sent<Heartbeat>(world).back().fault, "");
  world.tell(Reboot{world.agent().incarnation()});
  world.welcome();
  EXPECT_EQ(sent<Heartbeat>(world).back().fault,
            "cannot reboot: node.reboot_program is not set in the node's ares.yaml");
  EXPECT_EQ(sent<Heartbeat>(world).back().clock, world.now.wall);
}

}  // namespace
}  // namespace ares::node
