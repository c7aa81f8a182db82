// Tests: step
// What the lease of an attempt and its suspension do to a step.
#include <gtest/gtest.h>

#include <csignal>

#include "node/step.h"
#include "unit/node/step_fixture.h"

namespace ares::node {
namespace {

using namespace steps_of_tests;

TEST_F(StepTest, LeasedAttemptDoesNotStartWithoutAValidLease) {
  settings.leased = true;
  ASSERT_TRUE(machine().start(now));
  machine().receive(StepGo{Fence(50), std::nullopt}, now);
  machine().receive(StepGo{Fence(50), now.boot}, now);
  EXPECT_EQ(tree.opened, 0);
  machine().receive(StepGo{Fence(50), now.boot + Seconds(10)}, now);
  EXPECT_EQ(tree.opened, 1);
}

TEST_F(StepTest, ExpiredLeaseFreezesAndRenewalThaws) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  EXPECT_EQ(*machine().next_deadline() - now.boot, Seconds(10));
  after(Seconds(10));
  EXPECT_TRUE(tree.frozen);
  machine().receive(StepRenewLease{now.boot - Seconds(1)}, now);  // an old renewal, late
  EXPECT_TRUE(tree.frozen);
  machine().receive(StepRenewLease{now.boot + Seconds(5)}, now);
  EXPECT_FALSE(tree.frozen);
  after(Seconds(5));
  EXPECT_TRUE(tree.frozen);
}

TEST_F(StepTest, FrozenAttemptIsKilledWithoutThawing) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  after(Seconds(11));
  ASSERT_TRUE(tree.frozen);
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_EQ(tree.kills, 1);
  EXPECT_TRUE(tree.signals.empty()) << "no TERM: it would have to run to hear it";
  machine().receive(StepRenewLease{now.boot + Seconds(60)}, now);
  EXPECT_TRUE(tree.frozen);
}

TEST_F(StepTest, AttemptThatCannotBeFrozenIsKilled) {
  settings.leased = true;
  tree.can_freeze = false;
  let_go(now.boot + Seconds(10));
  after(Seconds(10));
  EXPECT_EQ(tree.kills, 1);
  machine().tree_gone({}, false, now);
  EXPECT_NE(exit_record().detail.find("lease"), std::string::npos);
  EXPECT_TRUE(exit_record().lease_ended);
}

TEST_F(StepTest, LeaseThatExpiresWhileTheJobIsStoppedLeavesItsReason) {
  settings.leased = true;
  settings.time_limit = Seconds(8);
  tree.can_freeze = false;
  let_go(now.boot + Seconds(10));
  after(Seconds(8));
  after(Seconds(2));
  EXPECT_EQ(tree.kills, 1);
  machine().tree_gone({}, false, now);
  EXPECT_FALSE(exit_record().lease_ended);
  EXPECT_TRUE(exit_record().exit.timed_out);
}

TEST_F(StepTest, LeaseThatExpiresDuringKillWaitKillsAtOnce) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  machine().receive(StepKill{Fence(50), false}, now);
  after(Seconds(10));
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, GuardianKnowsTheLeaseBeforeUserCodeRuns) {
  settings.leased = true;
  ASSERT_TRUE(machine().start(now));
  machine().receive(StepRenewLease{now.boot + Seconds(5)}, now);
  EXPECT_FALSE(tree.guarded_until) << "a task at its gate is not stopped";
  machine().receive(StepGo{Fence(50), now.boot + Seconds(10)}, now);
  EXPECT_EQ(tree.guarded_until, now.boot + Seconds(10));
  machine().receive(StepRenewLease{now.boot + Seconds(60)}, now);
  EXPECT_EQ(tree.guarded_until, now.boot + Seconds(60));
  machine().receive(StepRenewLease{now.boot + Seconds(30)}, now);  // an old one, late
  EXPECT_EQ(tree.guarded_until, now.boot + Seconds(60));
}

TEST_F(StepTest, LiveLeaseResumesWhatTheGuardianStopped) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  now.boot += Seconds(20);  // the supervisor was stopped, so that no tick came
  tree.frozen = tree.guardian_stopped = true;
  machine().receive(StepRenewLease{now.boot + Seconds(10)}, now);
  machine().tick(now);
  EXPECT_FALSE(tree.frozen);
  EXPECT_EQ(tree.kills, 0);
}

TEST_F(StepTest, SuspendedJobStoppedByTheGuardianStaysSuspended) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  machine().receive(StepSetSuspended{Fence(50), Lsn(60), true, Seconds{}}, now);
  tree.frozen = tree.guardian_stopped = true;
  now.boot += Seconds(20);
  machine().receive(StepRenewLease{now.boot + Seconds(10)}, now);
  EXPECT_TRUE(tree.frozen);
  machine().receive(StepSetSuspended{Fence(50), Lsn(70), false, Seconds{}}, now);
  EXPECT_FALSE(tree.frozen);
}

// Regression: a Kill that waited in the socket let the job run on beside the next attempt.
TEST_F(StepTest, SupervisorThatWasStoppedActsOnTheLeaseFirst) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  now.boot += Seconds(20);
  machine().receive(StepKill{Fence(50), false}, now);
  EXPECT_TRUE(tree.signals.empty()) << "SIGTERM would need a running job";
  EXPECT_EQ(tree.kills, 1);
}

TEST_F(StepTest, SigcontDoesNotResumeAJobFrozenByItsLease) {
  settings.leased = true;
  let_go(now.boot + Seconds(10));
  after(Seconds(10));
  machine().receive(StepSignal{Fence(50), Lsn(60), SIGCONT, false}, now);
  EXPECT_TRUE(tree.signals.empty());
}

}  // namespace
}  // namespace ares::node
