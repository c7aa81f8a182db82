// Tests: end_jobs, dead_node, lease_monitor
// Nodes that stay away: when their jobs end without their word, and what happens if they come back.
#include <gmock/gmock.h>

#include "core/cluster/dead_node.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobSpec once() {
  JobSpec s = Cluster::spec();
  s.requeue = false;
  return s;
}

JobSpec after(JobKey target, DependencyKind kind) {
  JobSpec s = Cluster::spec();
  s.dependencies = {{kind, target, {}}};
  return s;
}

class DeadNode : public ::testing::Test {
 protected:
  static Policy patient(Seconds timeout = hours{2}) {
    Policy p = Cluster::default_policy();
    p.dead_node_timeout = timeout;
    return p;
  }

  // All nodes except n1 stay in contact.
  void pass(Duration time, Cluster& in) {
    in.now += time;
    for (int n = 2; n <= 4; ++n) in.monitor.heard(in.id_of(n), in.now);
    for (const NodeSilent& silent : in.monitor.due(in.state(), *in.policy, in.now))
      in.run({silent});
  }
  void pass(Duration time) { pass(time, c); }

  JobKey running(JobSpec spec, std::vector<int> nodes = {1}) {
    spec.min_nodes = spec.max_nodes = static_cast<std::uint32_t>(nodes.size());
    const JobKey key = c.submit(std::move(spec));
    c.start(key, std::move(nodes));
    return key;
  }

  void become_lost() {
    pass(Duration{c.policy->lease} * 105 / 100 + c.policy->kill_allowance);
    ASSERT_EQ(c.node(1).contact, Contact::lost);
  }

  Cluster c{4, patient()};
};

TEST_F(DeadNode, EndsJobsThatMayRunOnlyOnceAfterTheTimeout) {
  const JobKey key = running(once());
  const JobKey any = c.submit(after(key, DependencyKind::after_any));
  const JobKey failed = c.submit(after(key, DependencyKind::after_not_ok));
  become_lost();
  EXPECT_EQ(c.node(1).silent_since,
            c.now - (Duration{c.policy->lease} * 105 / 100 + c.policy->kill_allowance));
  const Time dead = *c.node(1).silent_since + c.policy->dead_node_timeout;
  EXPECT_EQ(dead_at(c.state(), *c.policy, c.node(1)), dead);
  pass(dead - c.now - Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::running);
  EXPECT_FALSE(c.job(any).waiting_for.empty());
  pass(Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
  EXPECT_EQ(c.job(key).reason, Reason::node_down);
  EXPECT_EQ(c.job(key).cause, "n1: did not answer for 02:00:00 (dead_node_timeout)");
  EXPECT_EQ(c.job(key).ended, c.now) << "as if an operator had declared the node dead now";
  EXPECT_EQ(c.row(key, 1)->cause, c.job(key).cause);
  EXPECT_TRUE(c.job(any).waiting_for.empty());
  EXPECT_TRUE(c.job(failed).waiting_for.empty());
  EXPECT_EQ(c.node(1).admin, AdminState::up) << "it serves again when it comes back";
}

TEST_F(DeadNode, IsAskedAboutOnceOnly) {
  running(once());
  become_lost();
  pass(hours{3});
  const std::size_t events = c.events.size();
  EXPECT_THAT(c.monitor.due(c.state(), *c.policy, c.now), IsEmpty());
  c.run({NodeSilent{c.id_of(1), {}}});
  EXPECT_EQ(c.events.size(), events);
}

TEST_F(DeadNode, CancelledJobEndsCancelled) {
  const JobKey before = running(once()), later = running(once());
  c.cancel(before);
  become_lost();
  c.cancel(later);
  EXPECT_EQ(c.job(before).state, JobState::completing);
  EXPECT_EQ(c.job(later).state, JobState::completing);
  pass(hours{2});
  for (const JobKey key : {before, later}) {
    EXPECT_EQ(c.job(key).state, JobState::cancelled);
    EXPECT_EQ(c.job(key).ending->by, kAlice);
    EXPECT_THAT(c.job(key).cause, HasSubstr("n1: did not answer"));
  }
}

TEST_F(DeadNode, OtherNodesOfTheJobEndItFirst) {
  const JobKey key = running(once(), {1, 2});
  become_lost();
  pass(hours{2});
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(2), 1u);
  c.progress(2, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
}

TEST_F(DeadNode, ComesBackAndKillsWhatIsLeft) {
  const JobKey key = running(once());
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  become_lost();
  pass(hours{2});
  ASSERT_EQ(c.job(key).state, JobState::node_fail);
  const Job ended = c.job(key);
  EXPECT_EQ(c.node(1).charges.size(), 1u) << "its resources are not free before it registers clean";
  c.forget_sent();
  c.register_node(1, {alive});
  ASSERT_EQ(c.sent<Kill>(1), 1u);
  EXPECT_TRUE(c.last_sent<Kill>(1)->immediately);
  EXPECT_EQ(c.node(1).silent_since, std::nullopt);
  AttemptReport done = alive;
  done.phase = AttemptPhase::done;
  for (int i = 0; i < 2; ++i) c.from_node(1, Progress{done});
  EXPECT_EQ(c.happened<LateResult>(), 1u);
  EXPECT_TRUE(c.node(1).charges.empty());
  EXPECT_EQ(c.job(key), ended) << "it ended once";
}

TEST_F(DeadNode, ComesBackInTimeAndTheJobGoesOn) {
  const JobKey key = running(once());
  become_lost();
  pass(hours{1});
  c.register_node(1, {c.report(key, AttemptPhase::running)});
  pass(hours{1} - Duration{c.policy->lease});
  EXPECT_EQ(c.job(key).state, JobState::running) << "the time counts from the last message";
  c.register_node(1, {c.report(key, AttemptPhase::running)});
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completed);
}

// Of an attempt without a lease nothing proves that it does not run.
TEST_F(DeadNode, RequeueableJobWithoutALeaseEndsAndIsRequeuedOnlyWhenItCannotRun) {
  c.cannot_freeze = {1};
  c.register_node(1);
  const JobKey key = running(Cluster::spec()), other = running(Cluster::spec());
  const AttemptReport alive = c.report(key, AttemptPhase::running);
  become_lost();
  pass(hours{2});
  ASSERT_EQ(c.job(key).state, JobState::node_fail);
  const auto requeue = [&](JobKey job) {
    RequeueJobs r;
    r.jobs = Cluster::named(job);
    return c.user(kAlice, r);
  };
  const Reply refused = requeue(key);
  EXPECT_EQ(refused.error.code, ErrorCode::failed_precondition);
  EXPECT_THAT(refused.error.message, HasSubstr("may still run on n1"));
  EXPECT_THAT(refused.error.message, HasSubstr("actl update node n1 state=down reason=TEXT"));
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "burnt"});
  EXPECT_FALSE(requeue(other).failed) << "on the operator's word";
  EXPECT_EQ(c.job(other).state, JobState::pending);
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
  EXPECT_TRUE(requeue(key).failed);

  AttemptReport done = alive;
  done.phase = AttemptPhase::done;
  c.register_node(1, {alive});
  EXPECT_TRUE(requeue(key).failed) << "it is being killed";
  c.from_node(1, Progress{done});
  EXPECT_FALSE(requeue(key).failed);
  EXPECT_EQ(c.job(key).state, JobState::pending);
}

TEST_F(DeadNode, NeverWithATimeoutOfZero) {
  Cluster never{4, patient(Seconds{0})};
  const JobKey key = never.submit(once());
  never.start(key, {1});
  pass(hours{1}, never);
  EXPECT_EQ(never.node(1).contact, Contact::lost);
  pass(hours{24 * 365}, never);
  EXPECT_EQ(never.job(key).state, JobState::running);
  EXPECT_EQ(dead_at(never.state(), *never.policy, never.node(1)), std::nullopt);
}

TEST_F(DeadNode, NotBeforeItsLeasesHaveExpired) {
  Cluster hasty{4, patient(Seconds{1})};
  const JobKey key = hasty.submit(once());
  hasty.start(key, {1});
  pass(Duration{hasty.policy->lease} * 105 / 100, hasty);
  EXPECT_EQ(hasty.job(key).state, JobState::running);
  pass(hasty.policy->kill_allowance, hasty);
  ASSERT_EQ(hasty.node(1).contact, Contact::lost);
  pass(Seconds{1}, hasty);
  EXPECT_EQ(hasty.job(key).state, JobState::node_fail);
}

// The time is not lost with a controller, but the node may have come back meanwhile.
TEST_F(DeadNode, ANewControllerGivesItTheTimeOfALeaseToComeBack) {
  const JobKey key = running(once());
  become_lost();
  c.now += hours{5};
  c.run({Activate{Epoch{2}, "host"}});
  pass(Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::running);
  pass(Duration{c.policy->lease} * 105 / 100 + c.policy->kill_allowance);
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
}

TEST_F(DeadNode, AnOperatorMayDeclareItDeadSooner) {
  const JobKey key = running(once()), cancelled = running(once());
  become_lost();
  c.cancel(cancelled);
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "burnt"});
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
  EXPECT_EQ(c.job(key).cause, "n1: was set down: burnt");
  EXPECT_EQ(c.job(cancelled).state, JobState::cancelled);
}

// Declared dead before its leases have expired: the jobs end when they have.
TEST_F(DeadNode, AnOperatorMayDeclareItDeadBeforeItIsLost) {
  const JobKey key = running(once());
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "burnt"});
  EXPECT_EQ(c.job(key).state, JobState::completing);
  become_lost();
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
  EXPECT_EQ(c.job(key).cause, "n1: was set down: burnt");
}

TEST_F(DeadNode, TellsWhichJobsWaitForIt) {
  const JobKey key = running(once(), {1, 2}), elsewhere = running(once(), {2});
  EXPECT_THAT(lost_nodes_of(c.state(), c.job(key)), IsEmpty());
  EXPECT_FALSE(is_waited_for(c.state(), c.node(1)));
  become_lost();
  const auto lost = lost_nodes_of(c.state(), c.job(key));
  EXPECT_THAT(lost, ElementsAre(&c.node(1)));
  EXPECT_EQ(declare_dead_command(lost), "actl update node n1 state=down reason=TEXT");
  EXPECT_THAT(lost_nodes_of(c.state(), c.job(elsewhere)), IsEmpty());
  EXPECT_TRUE(is_waited_for(c.state(), c.node(1)));
  pass(hours{2});
  EXPECT_THAT(lost_nodes_of(c.state(), c.job(key)), IsEmpty());
  EXPECT_FALSE(is_waited_for(c.state(), c.node(1)));
}

}  // namespace
}  // namespace ares::core
