// Failed jobs that return first: which failures count, how often, and which nodes are kept.
#include "core/cluster/expedite.h"

#include <gtest/gtest.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

class Expedited : public ::testing::Test {
 protected:
  explicit Expedited(Policy policy = Cluster::default_policy()) : c(4, std::move(policy)) {}

  JobKey submit(std::uint32_t nodes = 2) {
    JobSpec s = Cluster::spec();
    s.min_nodes = s.max_nodes = s.tasks = nodes;
    s.expedite = true;
    return c.submit(s);
  }
  // The script ends on the first node, and the second one releases the job.
  void script_ends(JobKey key, int first, int second, std::int32_t code = 1) {
    c.progress(first, key, AttemptPhase::done, code);
    if (c.job(key).state == JobState::completing) c.progress(second, key, AttemptPhase::done);
  }
  // The node is silent for so long that the attempt is fenced there.
  void lose(int node) {
    c.now += Seconds{1000};
    for (int n = 1; n <= 4; ++n)
      if (n != node) c.from_node(n, Heartbeat{});
    c.run({NodeSilent{c.id_of(node), c.now - Seconds{1000}}});
  }
  std::vector<int> kept() const {
    std::vector<int> nodes;
    for (int n = 1; n <= 4; ++n)
      if (c.state().kept_nodes.find(c.id_of(n))) nodes.push_back(n);
    return nodes;
  }
  JobState after_plan(JobKey key, std::vector<int> nodes) {
    c.plan({c.group(key, std::move(nodes))});
    return c.job(key).state;
  }

  Cluster c;
};

class NeverExpedited : public Expedited {
 protected:
  static Policy never() {
    Policy policy = Cluster::default_policy();
    policy.expedite.most = 0;
    return policy;
  }
  NeverExpedited() : Expedited(never()) {}
};

using Nodes = std::vector<int>;

TEST_F(Expedited, AfterAFailedScriptItWaitsAgainAndItsNodesAreKept) {
  const JobKey key = submit(), other = c.submit();
  c.start(key, {1, 2});
  script_ends(key, 1, 2);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(kept(), (Nodes{1, 2}));
  EXPECT_EQ(after_plan(other, {2}), JobState::pending) << "a plan that is out of date";
  EXPECT_EQ(after_plan(other, {3}), JobState::configuring);
  EXPECT_EQ(after_plan(key, {1, 2}), JobState::configuring);
  EXPECT_EQ(kept(), Nodes{}) << "it has them now";
  EXPECT_EQ(c.row(key, 1)->state, JobState::failed);
  EXPECT_TRUE(c.row(key, 1)->superseded);
  EXPECT_EQ(c.job(key).attempt, AttemptNo{2});
}

TEST_F(Expedited, NodesAreKeptFromTheFailureOn) {
  const JobKey key = submit(), other = c.submit();
  c.start(key, {1, 2});
  c.progress(1, key, AttemptPhase::done, 1);
  ASSERT_EQ(c.job(key).state, JobState::completing) << "the other node is not done";
  EXPECT_EQ(after_plan(other, {1}), JobState::pending);
}

TEST_F(Expedited, OfALostNodeOnlyTheHealthyOnesAreKept) {
  const JobKey key = submit();
  c.start(key, {1, 2});
  lose(2);
  EXPECT_EQ(c.job(key).ending->failed_node, c.id_of(2));
  c.progress(1, key, AttemptPhase::done, 0);
  ASSERT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(kept(), Nodes{1});
  EXPECT_EQ(c.job(key).excluded, std::vector<NodeId>{c.id_of(2)});
  EXPECT_EQ(after_plan(key, {1, 3}), JobState::configuring);
}

TEST_F(Expedited, NodeLostAfterTheScriptFailedIsKeptNoLonger) {
  const JobKey key = submit();
  c.start(key, {1, 2});
  c.progress(1, key, AttemptPhase::done, 1);
  EXPECT_EQ(kept(), (Nodes{1, 2}));
  lose(2);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(kept(), Nodes{1});
}

TEST_F(Expedited, AfterAFailedLaunchThereIsNoBackOff) {
  const JobKey key = submit();
  c.allocate(key, {1, 2});
  c.from_node(2, LaunchRefused{{key, c.job(key).attempt}, c.job(key).allocation->fence, true, "x"});
  c.progress(1, key, AttemptPhase::never_ran);
  ASSERT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(kept(), Nodes{1});
  EXPECT_LE(c.job(key).not_before, c.now);
  EXPECT_EQ(after_plan(key, {1, 3}), JobState::configuring);
}

TEST_F(Expedited, ReturnsAtMostThreeTimesInARow) {
  const JobKey key = submit();
  for (int i = 0; i < 3; ++i) {
    c.start(key, {1, 2});
    script_ends(key, 1, 2);
    ASSERT_EQ(c.job(key).state, JobState::pending) << i;
  }
  c.start(key, {1, 2});
  script_ends(key, 1, 2);
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_EQ(c.job(key).reason, Reason::non_zero_exit_code);
  EXPECT_EQ(kept(), Nodes{});
}

TEST_F(Expedited, LongRunBeginsTheCountAnew) {
  const JobKey key = submit();
  for (int i = 0; i < 6; ++i) {
    c.start(key, {1, 2});
    c.now += Seconds{3600};
    script_ends(key, 1, 2);
    ASSERT_EQ(c.job(key).state, JobState::pending) << i;
    EXPECT_EQ(c.job(key).expedited_returns, 1u);
  }
}

TEST_F(NeverExpedited, JobOfALostNodeIsRequeuedLikeOthers) {
  const JobKey key = submit();
  c.start(key, {1, 2});
  lose(2);
  c.progress(1, key, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_FALSE(c.job(key).expedited);
  EXPECT_EQ(kept(), Nodes{});
}

TEST_F(Expedited, SuccessTimeoutAndCancellationEndTheJob) {
  const JobKey good = submit(), late = submit(), cancelled = submit();
  c.start(good, {1, 2});
  script_ends(good, 1, 2, 0);
  EXPECT_EQ(c.job(good).state, JobState::completed);

  c.start(late, {1, 2});
  AttemptReport report = c.report(late, AttemptPhase::done, 1);
  report.exit.timed_out = true;
  c.from_node(1, Progress{report});
  c.progress(2, late, AttemptPhase::done);
  EXPECT_EQ(c.job(late).state, JobState::timeout);

  c.start(cancelled, {1, 2});
  c.cancel(cancelled);
  script_ends(cancelled, 1, 2);
  EXPECT_EQ(c.job(cancelled).state, JobState::cancelled);
  EXPECT_EQ(kept(), Nodes{});
}

TEST_F(Expedited, CancellationWhileItEndsOrWaitsFreesTheNodes) {
  const JobKey ending = submit(), waiting = submit();
  c.start(ending, {1, 2});
  c.progress(1, ending, AttemptPhase::done, 1);
  ASSERT_EQ(kept(), (Nodes{1, 2}));
  c.cancel(ending);
  EXPECT_EQ(kept(), Nodes{});
  c.progress(2, ending, AttemptPhase::done);
  EXPECT_EQ(c.job(ending).state, JobState::cancelled);

  c.start(waiting, {3, 4});
  script_ends(waiting, 3, 4);
  ASSERT_EQ(kept(), (Nodes{3, 4}));
  c.cancel(waiting);
  EXPECT_EQ(kept(), Nodes{});
}

TEST_F(Expedited, HoldAndAnotherRequestGiveUpPlaceAndNodes) {
  const JobKey held = submit(), changed = submit();
  c.start(held, {1, 2});
  script_ends(held, 1, 2);
  c.user(kAlice, HoldJobs{Cluster::named(held)});
  EXPECT_FALSE(c.job(held).expedited);

  c.start(changed, {3, 4});
  script_ends(changed, 3, 4);
  JobSpec values = Cluster::spec();
  values.min_nodes = values.max_nodes = 1;
  UpdateJob update;
  update.jobs = Cluster::named(changed);
  update.values = std::make_shared<const JobSpec>(values);
  update.fields = {"min_nodes", "max_nodes"};
  c.user(kAlice, update);
  ASSERT_EQ(c.job(changed).spec->min_nodes, 1u);
  EXPECT_FALSE(c.job(changed).expedited);
  EXPECT_EQ(kept(), Nodes{});
}

TEST_F(Expedited, AfterATimeOtherJobsGetTheNodesAndItStaysFirst) {
  const JobKey key = submit(), other = c.submit();
  c.start(key, {1, 2});
  script_ends(key, 1, 2);
  c.tick(Seconds{599});
  EXPECT_EQ(kept(), (Nodes{1, 2}));
  c.tick(Seconds{2});
  EXPECT_EQ(kept(), Nodes{});
  EXPECT_TRUE(c.job(key).expedited.has_value());
  EXPECT_EQ(after_plan(other, {1}), JobState::configuring);
}

TEST_F(Expedited, NodeIsKeptForOneJobOnly) {
  const JobKey first = submit(1), second = submit(1);
  c.start(first, {1});
  c.start(second, {1});
  c.progress(1, first, AttemptPhase::done, 1);
  c.progress(1, second, AttemptPhase::done, 1);
  ASSERT_EQ(c.job(second).state, JobState::pending);
  EXPECT_EQ(after_plan(second, {1}), JobState::pending);
  EXPECT_EQ(after_plan(first, {1}), JobState::configuring);
  EXPECT_EQ(after_plan(second, {1}), JobState::configuring);
}

TEST_F(Expedited, TaskOfAnArrayReturnsByItself) {
  JobSpec s = array_of(3, 1);
  s.expedite = true;
  const JobKey array = c.submit(s), first = task(array, 0);
  c.start(first, {1});
  c.progress(1, first, AttemptPhase::done, 1);
  EXPECT_EQ(c.job(first).state, JobState::pending);
  EXPECT_TRUE(c.job(first).expedited.has_value());
  EXPECT_EQ(c.job(array).array->holding, 0u);
  EXPECT_EQ(after_plan(first, {1}), JobState::configuring);
}

TEST_F(Expedited, DependentJobWaitsForTheLastEnd) {
  const JobKey key = submit();
  JobSpec s = Cluster::spec();
  s.dependencies = {{DependencyKind::after_not_ok, key}};
  const JobKey dependent = c.submit(s);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(c.job(dependent).waiting_for.empty()) << i;
    c.start(key, {1, 2});
    script_ends(key, 1, 2);
  }
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_TRUE(c.job(dependent).waiting_for.empty());
}

TEST_F(Expedited, JobsThatDoNotAskForItFailAtOnce) {
  const JobKey key = c.submit();
  c.start(key, {1});
  c.progress(1, key, AttemptPhase::done, 1);
  EXPECT_EQ(c.job(key).state, JobState::failed);
  JobSpec s = Cluster::spec();
  s.expedite = true;
  s.requeue = false;
  const JobKey never = c.submit(s);
  c.start(never, {1});
  c.progress(1, never, AttemptPhase::done, 1);
  EXPECT_EQ(c.job(never).state, JobState::failed);
}

TEST_F(Expedited, RequeueByItsUserDoesNotPutItFirst) {
  const JobKey key = submit();
  c.start(key, {1, 2});
  script_ends(key, 1, 2);
  c.start(key, {1, 2});
  c.user(kAlice, RequeueJobs{Cluster::named(key), false});
  script_ends(key, 1, 2);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_FALSE(c.job(key).expedited);
  EXPECT_EQ(c.job(key).expedited_returns, 0u);
}

}  // namespace
}  // namespace ares::core
