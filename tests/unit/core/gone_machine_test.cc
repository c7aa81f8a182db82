// Tests: decide_node, lease_monitor, decide/report, reconcile, effects, decide_node_life
// Nodes whose agent speaks and says that the machine is gone: their attempts are unknown, and end as those of silent nodes do.
#include <gmock/gmock.h>

#include "core/cluster/dead_node.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using std::chrono::hours;
using testing::HasSubstr;

constexpr const char* kRemoved = "removed from Kubernetes";

class GoneMachine : public ::testing::Test {
 protected:
  static Policy rules() {
    Policy p = Cluster::default_policy();
    p.dead_node_timeout = hours{2};
    DynamicNodes rule;
    rule.prefix = "n";
    rule.partitions = {"main"};
    p.dynamic_nodes.push_back(rule);
    return p;
  }
  void SetUp() override {
    c.cannot_freeze = {1};
    c.register_node(1);
  }
  JobKey running(JobSpec spec = Cluster::spec()) {
    const JobKey key = c.submit(std::move(spec));
    c.start(key, {1});
    return key;
  }
  Reply beat(std::vector<AttemptReport> attempts, bool gone = true) {
    Heartbeat h;
    h.sequence = ++sequence;
    h.attempts = std::move(attempts);
    h.fault = gone ? kRemoved : "";
    h.machine_gone = gone;
    return c.from_node(1, h);
  }
  Reply enter(std::vector<AttemptReport> attempts, bool gone = true) {
    Register r;
    r.name = "n1";
    r.incarnation = c.incarnation[1];
    r.incarnation_tag = "n1/" + std::to_string(r.incarnation);
    r.inventory = Cluster::machine();
    r.version = "test";
    r.attempts = std::move(attempts);
    r.fault = gone ? kRemoved : "";
    r.machine_gone = gone;
    return c.from_node(1, r);
  }
  // Time passes, in which all agents speak.
  void pass(Duration time, const std::vector<AttemptReport>& attempts) {
    c.now += time;
    for (int n = 2; n <= 4; ++n) c.monitor.heard(c.id_of(n), c.now);
    beat(attempts);
    for (const NodeSilent& silent : c.monitor.due(c.state(), *c.policy, c.now)) c.run({silent});
  }
  AttemptReport lost(AttemptReport report) const {
    report.phase = AttemptPhase::lost;
    return report;
  }

  Cluster c{4, rules()};
  std::uint64_t sequence = 0;
};

TEST_F(GoneMachine, IsLostAtOnceAndShowsWhy) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  EXPECT_FALSE(beat({alive}).failed);
  EXPECT_EQ(c.node(1).contact, Contact::lost);
  EXPECT_TRUE(c.node(1).machine_gone);
  EXPECT_EQ(c.node(1).silent_since, c.now);
  EXPECT_EQ(c.node(1).reason, kRemoved);
  EXPECT_EQ(c.job(key).state, JobState::running) << "nothing proves that it has ended";
  EXPECT_EQ(lost_nodes_of(c.state(), c.job(key)).size(), 1u);
  EXPECT_FALSE(beat({alive}).failed) << "its agent speaks on";
  EXPECT_EQ(c.happened<NodeLost>(), 1u);
}

TEST_F(GoneMachine, ReplacesWhatWasWrongBefore) {
  Heartbeat h;
  h.sequence = ++sequence;
  h.fault = "not ready";
  c.from_node(1, h);
  EXPECT_EQ(c.node(1).reason, "not ready");
  beat({});
  EXPECT_EQ(c.node(1).reason, kRemoved);
}

// Its agent's messages do not put the end off.
TEST_F(GoneMachine, CountsAsDeadAfterTheTimeoutAlthoughItsAgentSpeaks) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  beat({alive});
  pass(hours{1}, {alive});
  pass(hours{1} - Seconds{1}, {alive});
  EXPECT_EQ(c.job(key).state, JobState::running);
  c.forget_sent();
  pass(Seconds{1}, {alive});
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
  EXPECT_EQ(c.job(key).cause, "n1: was gone for 02:00:00 (dead_node_timeout)");
  ASSERT_TRUE(c.last_sent<Kill>(1)) << "the agent learns it at once";
  EXPECT_TRUE(c.last_sent<Kill>(1)->given_up);
}

// As with a silent node: time alone does not prove that it does not run.
TEST_F(GoneMachine, WhatItsAgentGivesUpIsNotStartedAgainBeforeAnOperatorDeclaresItDead) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  beat({alive});
  pass(hours{2}, {alive});
  ASSERT_EQ(c.job(key).state, JobState::node_fail);
  c.forget_sent();
  c.from_node(1, Progress{lost(alive)});
  EXPECT_EQ(c.sent<Forget>(1), 1u) << "the agent removes what is left";
  EXPECT_EQ(c.node(1).charges.size(), 1u);
  RequeueJobs again;
  again.jobs = Cluster::named(key);
  EXPECT_THAT(c.user(kAlice, again).error.message, HasSubstr("may still run on n1"));
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "deleted"});
  EXPECT_FALSE(c.user(kAlice, again).failed);
}

TEST_F(GoneMachine, AnOperatorsWordEndsItsJobsAtOnce) {
  const JobKey key = running(), cancelled = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  const AttemptReport other = c.report(cancelled, AttemptPhase::running);
  beat({alive, other});
  c.cancel(cancelled);
  EXPECT_EQ(c.job(cancelled).state, JobState::completing);
  EXPECT_FALSE(c.last_sent<Kill>(1)->given_up) << "its end is waited for";
  c.forget_sent();
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "deleted"});
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
  EXPECT_EQ(c.job(cancelled).state, JobState::cancelled);
  EXPECT_GE(c.sent<Kill>(1), 2u);
  EXPECT_TRUE(c.last_sent<Kill>(1)->given_up);
  // A lost message is repeated with the next heartbeat.
  c.forget_sent();
  beat({alive, other});
  EXPECT_EQ(c.sent<Kill>(1), 2u);
  c.from_node(1, Progress{lost(alive)});
  c.from_node(1, Progress{lost(other)});
  EXPECT_TRUE(c.node(1).charges.empty());
  EXPECT_EQ(c.sent<Forget>(1), 2u);
}

TEST_F(GoneMachine, MayBeDeletedWhenAnOperatorHasDeclaredItDead) {
  Register joining;
  joining.name = "n9";
  joining.incarnation = 1;
  joining.incarnation_tag = "n9/1";
  joining.inventory = Cluster::machine();
  joining.joins = true;
  c.incarnation[9] = 1;
  ASSERT_FALSE(c.from_node(9, joining).failed);
  const JobKey key = c.submit();
  c.start(key, {9});
  const DeleteNodes away{{"n9"}};
  EXPECT_THAT(c.user(kOperator, away).error.message, HasSubstr("drain it with actl drain --wait"));
  Heartbeat h;
  h.sequence = 1;
  h.attempts = {c.report(key, AttemptPhase::running)};
  h.machine_gone = true;
  c.from_node(9, h);
  EXPECT_THAT(c.user(kOperator, away).error.message,
              HasSubstr("actl update node n9 state=down reason=TEXT"));
  c.user(kOperator, UpdateNode{{"n9"}, AdminState::down, "deleted"});
  EXPECT_FALSE(c.user(kOperator, away).failed) << "also if its agent does not speak any more";
  EXPECT_FALSE(c.state().node_ids.find("n9"));
}

TEST_F(GoneMachine, ComesBackInTimeAndItsJobsGoOn) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  beat({alive});
  EXPECT_TRUE(beat({alive}, false).failed) << "it must register first";
  EXPECT_FALSE(enter({alive}, false).failed);
  EXPECT_EQ(c.node(1).contact, Contact::registered);
  EXPECT_FALSE(c.node(1).machine_gone);
  EXPECT_EQ(c.node(1).reason, "");
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completed);
}

TEST_F(GoneMachine, ComesBackTooLateAndWhatIsLeftIsKilledFirst) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  beat({alive});
  pass(hours{2}, {alive});
  c.forget_sent();
  enter({alive}, false);
  ASSERT_EQ(c.sent<Kill>(1), 1u);
  EXPECT_EQ(c.node(1).charges.size(), 1u) << "its resources are not free yet";
  c.from_node(1, Progress{lost(alive)});
  EXPECT_TRUE(c.node(1).charges.empty()) << "it is not gone: this is proof";
}

// A new agent tells of it, of which only pods are left.
TEST_F(GoneMachine, StaysLostWhenItsAgentRegistersIt) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  beat({alive});
  const Time since = c.now;
  c.now += Seconds{60};
  EXPECT_FALSE(enter({alive}).failed);
  EXPECT_EQ(c.node(1).contact, Contact::lost);
  EXPECT_EQ(c.node(1).silent_since, since) << "the time counts from when it was lost";
  c.run({Activate{Epoch{2}, "host"}});
  EXPECT_FALSE(beat({alive}).failed) << "after a change of the controller";
}

TEST_F(GoneMachine, ASilentNodeWhoseAgentReturnsWithoutItsMachineCountsOn) {
  const JobKey key = running();
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  c.now += hours{1};
  for (const NodeSilent& silent : c.monitor.due(c.state(), *c.policy, c.now))
    if (silent.node == c.id_of(1)) c.run({silent});
  ASSERT_EQ(c.node(1).contact, Contact::lost);
  const std::optional<Time> since = c.node(1).silent_since;
  enter({alive});
  EXPECT_TRUE(c.node(1).machine_gone);
  EXPECT_EQ(c.node(1).silent_since, since);
}

TEST_F(GoneMachine, WhatHadNotStartedEndsByTheAgentsWordAndRunsElsewhere) {
  const JobKey key = c.submit();
  c.allocate(key, {1});
  AttemptReport report = c.report(key, AttemptPhase::accepted);
  beat({report});
  EXPECT_EQ(c.job(key).state, JobState::configuring);
  report.phase = AttemptPhase::never_ran;
  EXPECT_FALSE(c.from_node(1, Progress{report}).failed);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_TRUE(c.node(1).charges.empty());
}

}  // namespace
}  // namespace ares::core
