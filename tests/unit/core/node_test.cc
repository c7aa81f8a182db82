// Tests: apply_attempt, apply_node, cluster/inventory, decide_node, job/report, reconcile
// Nodes: registration, failure, silence, late results; and proposals of the scheduler that concern them.
#include "core/job/effects/effects.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

TEST(Register, SmallerNodeIsDrainedUntilItsSizeIsBack) {
  Cluster c;
  Inventory small = Cluster::machine();
  small.cpus = 2;
  EXPECT_FALSE(c.register_node(1, {}, small).failed);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "Low CPUs (2 < 4)");
  c.register_node(1);
  EXPECT_EQ(c.node(1).admin, AdminState::up);

  small = Cluster::machine();
  small.memory = Bytes::mib(3000);
  c.register_node(1, {}, small);
  EXPECT_EQ(c.node(1).reason, "Low RealMemory (3000 < 4000)");
}

TEST(Register, DrainByAnAdministratorStays) {
  Cluster c;
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::drain, "disk"});
  c.register_node(1);
  EXPECT_EQ(c.node(1).reason, "disk");
}

TEST(Register, RepetitionWithoutChangeMakesNoEvent) {
  Cluster c;
  const std::size_t before = c.events.size();
  EXPECT_FALSE(c.register_node(1).failed);
  EXPECT_EQ(c.events.size(), before);
  EXPECT_GE(c.sent<Welcome>(1), 2u);
}

TEST(Register, TellsWhatTheNodeEnforces) {
  Cluster c;
  EXPECT_EQ(c.node(1).enforced, "");
  c.enforced = "cpus,memory";
  c.register_node(1);
  EXPECT_EQ(c.node(1).enforced, "cpus,memory");
  c.enforced = "none";
  c.register_node(1);
  EXPECT_EQ(c.node(1).enforced, "none");
}

TEST(Register, UnknownNodeAndNewerEpochAreRefused) {
  Cluster c;
  EXPECT_EQ(c.register_node(9).error.code, ErrorCode::not_found);
}

// As release 0.1.0 tells it: without a history.
TEST(Register, ANewerEpochOrPositionIsRefused) {
  const auto refusal = [](Epoch epoch, Lsn lsn) {
    Cluster c;
    Register r;
    r.name = "n1";
    r.incarnation = 1;
    r.incarnation_tag = "n1/1";
    r.highest_epoch = epoch;
    r.highest_lsn = lsn;
    return c.from_node(1, r).error;
  };
  EXPECT_EQ(refusal(Epoch{2}, Lsn{1}).code, ErrorCode::stale);
  EXPECT_NE(refusal(Epoch{1}, Lsn{1'000'000}).message.find("older database"), std::string::npos);
}

TEST(Register, SecondNodeOfANameIsRefusedWhileTheFirstIsAlive) {
  Cluster c;
  NodeCommand command;
  Register r;
  r.name = "n1";
  r.incarnation = 7;
  r.incarnation_tag = "other machine";
  r.inventory = Cluster::machine();
  command.message = {"n1", 7, r};
  command.rival_heard = c.now - Seconds{4};
  const Reply refused = c.run({command});
  EXPECT_EQ(refused.error.code, ErrorCode::already_exists);
  EXPECT_NE(refused.error.message.find("spoke 4 s ago"), std::string::npos);
  command.rival_heard = c.now - Seconds{60};
  EXPECT_FALSE(c.run({command}).failed) << "the first one is gone";
  EXPECT_EQ(c.from_node(1, Heartbeat{}).error.code, ErrorCode::stale)
      << "and may not come back as it was";
}

TEST(Register, RebootLosesRunningAttemptsAndKeepsResults) {
  Cluster c;
  const JobKey lost = c.submit(), ended = c.submit();
  JobSpec s = Cluster::spec();
  s.requeue = false;
  const JobKey once = c.submit(s);
  for (JobKey key : {lost, ended, once}) c.start(key, {1});
  const AttemptReport result = c.report(ended, AttemptPhase::done, 3);
  c.incarnation[1] = 2;
  c.now += Seconds{60};
  c.register_node(1, {result});
  EXPECT_EQ(c.job(lost).state, JobState::pending);
  EXPECT_EQ(c.row(lost, 1)->state, JobState::node_fail);
  EXPECT_EQ(c.job(ended).state, JobState::failed);
  EXPECT_EQ(c.job(ended).exit.code, 3);
  EXPECT_EQ(c.job(once).state, JobState::node_fail) << "it may have run, so it does not run again";
  EXPECT_TRUE(c.node(1).charges.empty());
}

TEST(Launch, FaultOfANodeExcludesItWithoutCostForTheJob) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.from_node(1,
              LaunchRefused{{key, AttemptNo{1}}, c.job(key).allocation->fence, true, "spool full"});
  EXPECT_EQ(c.job(key).cause, "n1: spool full");
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.job(key).hold, Hold::none);
  EXPECT_EQ(c.job(key).restarts, 0u);
  EXPECT_EQ(c.job(key).not_before, c.now + c.policy->launch_backoff);
  EXPECT_TRUE(c.node(1).charges.empty());
  c.plan({c.group(key, {2})});
  EXPECT_EQ(c.job(key).state, JobState::pending) << "it backs off";
  c.now += c.policy->launch_backoff;
  c.allocate(key, {2});
}

TEST(Launch, FaultOfTheJobFailsIt) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.from_node(
      1,
      LaunchRefused{{key, AttemptNo{1}}, c.job(key).allocation->fence, false, "no such directory"});
  EXPECT_EQ(c.job(key).cause, "n1: no such directory");
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_EQ(c.job(key).reason, Reason::launch_failure);
}

TEST(Launch, FailureOnOneNodeAbortsTheOthers) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.min_nodes = s.max_nodes = 2;
  const JobKey key = c.submit(s);
  c.allocate(key, {1, 2});
  c.progress(1, key, AttemptPhase::ready);
  c.progress(2, key, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(1), 1u);
  EXPECT_EQ(c.sent<Go>(1), 0u);
  c.progress(1, key, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(key).state, JobState::pending);
}

// Its node proves that the script did not start, although it was told to start it.
TEST(Launch, WhatNeverRanAfterItsGoRunsAgainAndDoesNotCountAsARun) {
  Cluster c;
  JobSpec once = Cluster::spec();
  once.requeue = false;
  const JobKey key = c.submit(once);
  c.start(key, {1});
  c.progress(1, key, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.job(key).restarts, 0u);
  EXPECT_EQ(c.node(1).guard.failures.size(), 1u) << "the node's fault";
  c.now += c.policy->launch_backoff_max;
  c.start(key, {2});
  AttemptReport report = c.report(key, AttemptPhase::never_ran);
  report.fault = LaunchFault::system;
  c.from_node(2, Progress{report});
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_TRUE(c.node(2).guard.failures.empty()) << "not the node's fault";
  EXPECT_TRUE(c.job(key).excluded.empty()) << "it may run there again";
}

TEST(Launch, WhatNeverRanByTheUsersFaultFails) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  AttemptReport report = c.report(key, AttemptPhase::never_ran);
  report.fault = LaunchFault::user;
  report.detail = "no such image";
  c.from_node(1, Progress{report});
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_EQ(c.job(key).reason, Reason::launch_failure);
  EXPECT_EQ(c.job(key).cause, "n1: no such image");
  EXPECT_TRUE(c.node(1).charges.empty());
}

// A pod that Kubernetes evicts, for one.
TEST(Launch, WhatEndedARunningJobOnItsNodeIsKeptWhetherOrNotItRunsAgain) {
  Cluster c;
  JobSpec once = Cluster::spec();
  once.requeue = false;
  const JobKey ends = c.submit(once), returns = c.submit();
  for (const JobKey& key : {ends, returns}) {
    c.start(key, {1});
    AttemptReport report = c.report(key, AttemptPhase::lost);
    report.detail = "Kubernetes evicted the pod: memory";
    c.from_node(1, Progress{report});
    EXPECT_EQ(c.job(key).cause, "n1: Kubernetes evicted the pod: memory");
    EXPECT_EQ(c.row(key, 1)->cause, c.job(key).cause);
  }
  EXPECT_EQ(c.job(ends).state, JobState::node_fail);
  EXPECT_EQ(c.job(returns).state, JobState::pending);
  c.now += c.policy->launch_backoff_max;
  c.start(returns, {2});
  EXPECT_EQ(c.job(returns).cause, "") << "nothing went wrong with this attempt";
  c.progress(2, returns, AttemptPhase::done);
  EXPECT_EQ(c.job(returns).state, JobState::completed);
  EXPECT_EQ(c.row(returns, 2)->cause, "");
}

TEST(Launch, NodesThatNeverGetReadyAreExcluded) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.tick(c.policy->prepare_timeout - Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::configuring);
  c.tick(Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(1), 1u);
  c.progress(1, key, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.job(key).excluded, std::vector<NodeId>{c.id_of(1)});
}

// The planner avoids the node where it can: it may be the only one on which the job fits.
TEST(Launch, TheNodeOnWhichALaunchFailedMayBeUsedAgain) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.tick(c.policy->prepare_timeout);
  c.progress(1, key, AttemptPhase::never_ran);
  ASSERT_EQ(c.job(key).excluded, std::vector<NodeId>{c.id_of(1)});
  c.tick(std::chrono::hours(1));
  EXPECT_EQ(c.plan({c.group(key, {1})}).text, "1 of 1 groups taken");
}

TEST(Launch, StartBarrierEndsAnAttemptThatDoesNotRunOnAllNodes) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.min_nodes = s.max_nodes = 2;
  const JobKey key = c.submit(s);
  c.allocate(key, {1, 2});
  for (int n : {1, 2}) c.progress(n, key, AttemptPhase::ready);
  c.progress(1, key, AttemptPhase::running);
  c.tick(c.policy->start_barrier);
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(1) + c.sent<Kill>(2), 2u);
  c.progress(1, key, AttemptPhase::done);
  c.progress(2, key, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.job(key).excluded, std::vector<NodeId>{c.id_of(2)});
}

class Silence : public ::testing::Test {
 protected:
  // All nodes except n1 stay in contact.
  void pass(Duration time) {
    c.now += time;
    for (int n = 2; n <= 4; ++n) c.monitor.heard(c.id_of(n), c.now);
    for (const NodeSilent& silent : c.monitor.due(c.state(), *c.policy, c.now)) c.run({silent});
  }
  Duration limit() const {
    return Duration{c.policy->lease} * 105 / 100 + c.policy->kill_allowance;
  }
  Cluster c;
};

TEST_F(Silence, FencesARequeueableJobAfterItsLeaseExpired) {
  const JobKey key = c.submit();
  c.start(key, {1});
  pass(limit() - Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::running);
  pass(Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.row(key, 1)->state, JobState::node_fail);
  EXPECT_EQ(c.node(1).contact, Contact::lost);
  EXPECT_EQ(c.node(1).charges.size(), 1u) << "its resources are not free before it registers clean";

  const Fence old{c.node(1).charges[0].fence};
  c.start(key, {2});
  c.forget_sent();
  AttemptReport frozen;
  frozen.attempt = {key, AttemptNo{1}};
  frozen.fence = old;
  frozen.phase = AttemptPhase::running;
  c.register_node(1, {frozen});
  ASSERT_EQ(c.sent<Kill>(1), 1u);
  EXPECT_TRUE(c.last_sent<Kill>(1)->immediately);
  EXPECT_EQ(c.node(1).charges.size(), 1u);

  frozen.phase = AttemptPhase::done;
  frozen.exit.code = 0;
  for (int i = 0; i < 3; ++i) c.from_node(1, Progress{frozen});
  EXPECT_EQ(c.happened<LateResult>(), 1u) << "recorded once, however often it is told";
  EXPECT_EQ(c.sent<Forget>(1), 3u);
  EXPECT_TRUE(c.node(1).charges.empty());
  EXPECT_EQ(c.job(key).state, JobState::running) << "the second attempt is not touched";
}

// A node daemon's check of its freezer at start may fail once. An attempt started meanwhile has no lease,
// and gets none when the next check succeeds: otherwise it was fenced and ran beside its successor.
TEST_F(Silence, AttemptStartedWithoutALeaseIsNotFencedLater) {
  c.cannot_freeze = {1};
  c.register_node(1);
  const JobKey key = c.submit();
  c.start(key, {1});
  EXPECT_FALSE(c.last_sent<Prepare>(1)->launch.leased);
  c.cannot_freeze.clear();
  const AttemptReport running = c.report(key, AttemptPhase::running);
  c.register_node(1, {running});
  ASSERT_TRUE(c.node(1).can_freeze);
  pass(limit());
  EXPECT_EQ(c.node(1).contact, Contact::lost);
  EXPECT_EQ(c.job(key).state, JobState::running) << "nothing stops it where it is";
  EXPECT_EQ(c.happened<NodeFenced>(), 0u);
  c.register_node(1, {running});
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completed);
}

TEST_F(Silence, AttemptStartedWithALeaseKeepsIt) {
  const JobKey key = c.submit();
  c.start(key, {1});
  EXPECT_TRUE(c.job(key).allocation->nodes[0].leased);
  c.cannot_freeze = {1};
  c.register_node(1, {c.report(key, AttemptPhase::running)});
  ASSERT_FALSE(c.node(1).can_freeze);
  pass(limit());
  EXPECT_EQ(c.job(key).state, JobState::pending) << "its supervisor has frozen it";
  EXPECT_EQ(c.happened<NodeFenced>(), 1u);
}

TEST(Launch, RepeatedPrepareKeepsTheLeaseFlag) {
  Cluster c;
  c.cannot_freeze = {1};
  c.register_node(1);
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.cannot_freeze.clear();
  c.register_node(1);
  c.forget_sent();
  c.from_node(1, Heartbeat{5, {}});
  ASSERT_EQ(c.sent<Prepare>(1), 1u);
  EXPECT_FALSE(c.last_sent<Prepare>(1)->launch.leased);

  JobSpec once = Cluster::spec();
  once.requeue = false;
  const JobKey other = c.submit(once);
  c.allocate(other, {2});
  EXPECT_FALSE(c.last_sent<Prepare>(2)->launch.leased) << "what runs at most once has none";
}

TEST_F(Silence, NonRequeueableJobWaitsForItsNode) {
  JobSpec s = Cluster::spec();
  s.requeue = false;
  const JobKey key = c.submit(s);
  c.start(key, {1});
  pass(limit());
  EXPECT_EQ(c.node(1).contact, Contact::lost);
  EXPECT_EQ(c.job(key).state, JobState::running);
  c.register_node(1, {c.report(key, AttemptPhase::running)});
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completed);
}

TEST_F(Silence, AdministratorMayDeclareTheNodeDown) {
  JobSpec s = Cluster::spec();
  s.requeue = false;
  const JobKey key = c.submit(s);
  c.start(key, {1});
  pass(limit());
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "burnt"});
  EXPECT_EQ(c.job(key).state, JobState::node_fail);
  EXPECT_EQ(c.job(key).reason, Reason::node_down);
}

TEST_F(Silence, CountsFromTheStartOfTheController) {
  const JobKey key = c.submit();
  c.start(key, {1});
  c.now += std::chrono::hours{2};
  c.run({Activate{Epoch{2}, "host"}});
  pass(Seconds{1});
  EXPECT_EQ(c.job(key).state, JobState::running)
      << "an outage of the controller alone costs no job";
  pass(limit());
  EXPECT_EQ(c.job(key).state, JobState::pending);
}

TEST(Down, EndsTheJobsOfTheNode) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "fan"});
  EXPECT_EQ(c.sent<Kill>(1), 1u);
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.row(key, 1)->state, JobState::node_fail);
}

TEST(Plan, GroupThatDoesNotFitTheCurrentStateIsRefused) {
  Cluster c;
  const JobKey a = c.submit(), b = c.submit(), d = c.submit();
  EXPECT_EQ(c.plan({c.group(a, {1}, 3), c.group(b, {1}, 2), c.group(d, {1}, 1)}).text,
            "1 of 3 groups taken")
      << "the third relied on the second";
  EXPECT_EQ(c.job(a).state, JobState::configuring);
  EXPECT_EQ(c.plan({c.group(d, {1}, 1)}).text, "1 of 1 groups taken");

  PlanGroup stale = c.group(b, {2});
  c.user(kAlice, UpdateJob{Cluster::named(b), {}, true, Seconds{60}});
  EXPECT_EQ(c.plan({stale}).text, "0 of 1 groups taken") << "the job has changed since";
  c.user(kOperator, UpdateNode{{"n2"}, AdminState::drain, "x"});
  PlanGroup drained = c.group(b, {2});
  drained.starts[0].time_limit = Seconds{60};
  EXPECT_EQ(c.plan({drained}).text, "0 of 1 groups taken");
  PlanGroup old = c.group(b, {3});
  old.starts[0].time_limit = Seconds{60};
  old.starts[0].nodes.change(0, [&](NodeShare& share) { share.incarnation = 0; });
  EXPECT_EQ(c.plan({old}).text, "0 of 1 groups taken");
}

TEST(Plan, GpuIsNeverAllocatedTwice) {
  Cluster c;
  const JobKey a = c.submit(), b = c.submit();
  PlanGroup first = c.group(a, {1}), second = c.group(b, {1});
  const auto with = [](PlanGroup& group, GpuIndex gpu) {
    group.starts[0].nodes.change(0, [&](NodeShare& share) { share.gpus = {gpu}; });
  };
  with(first, GpuIndex{1});
  with(second, GpuIndex{1});
  EXPECT_EQ(c.plan({first, second}).text, "1 of 2 groups taken");
  with(second, GpuIndex{5});
  EXPECT_EQ(c.plan({second}).text, "0 of 1 groups taken");
  with(second, GpuIndex{0});
  EXPECT_EQ(c.plan({second}).text, "1 of 1 groups taken");
}

TEST(Plan, NodeGetsNoMoreAttemptsThanItTakes) {
  Cluster c;
  Inventory inventory = Cluster::machine();
  inventory.max_attempts = 2;
  c.register_node(1, {}, inventory);
  const JobKey a = c.submit(), b = c.submit(), d = c.submit();
  EXPECT_EQ(c.plan({c.group(a, {1}), c.group(b, {1}), c.group(d, {1})}).text,
            "2 of 3 groups taken");
  EXPECT_EQ(c.plan({c.group(d, {1})}).text, "0 of 1 groups taken") << "with those that it has";
  EXPECT_EQ(c.plan({c.group(d, {2})}).text, "1 of 1 groups taken");
}

TEST(Plan, NodeGivesNoMoreThousandthsOfCpusThanItHas) {
  Cluster c;
  Inventory inventory = Cluster::machine();
  inventory.cpu_thousandths = 4900;
  c.register_node(1, {}, inventory);
  EXPECT_EQ(c.state().nodes.find(c.id_of(1))->inventory.cpu_thousandths, 4000u)
      << "the configuration cuts it to whole CPUs";
  const auto group = [&](int node, std::uint32_t thousandths, std::uint32_t cpus = 1) {
    PlanGroup made = c.group(c.submit(), {node}, cpus);
    made.starts[0].nodes.change(0, [&](NodeShare& share) { share.cpu_thousandths = thousandths; });
    return made;
  };
  EXPECT_EQ(c.plan({group(2, 490)}).text, "0 of 1 groups taken") << "it counts whole CPUs";
  EXPECT_EQ(c.plan({group(1, 1490)}).text, "0 of 1 groups taken") << "those are two CPUs";
  std::vector<PlanGroup> groups;
  for (int i = 0; i < 8; ++i) groups.push_back(group(1, 490));
  EXPECT_EQ(c.plan(groups).text, "8 of 8 groups taken");
  EXPECT_EQ(c.plan({group(1, 81)}).text, "0 of 1 groups taken");
  EXPECT_EQ(c.plan({group(1, 0)}).text, "0 of 1 groups taken") << "it is a whole CPU";
  EXPECT_EQ(c.plan({group(1, 80)}).text, "1 of 1 groups taken");
  std::uint32_t sum = 0;
  for (const Charge& charge : c.state().nodes.find(c.id_of(1))->charges)
    sum += charge.cpu_thousandths;
  EXPECT_EQ(sum, 4000u);
}

TEST(Heartbeat, RepeatsMessagesThatTheNodeHasNotConfirmed) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.forget_sent();
  c.from_node(1, Heartbeat{5, {}});
  EXPECT_EQ(c.sent<Prepare>(1), 1u);
  ASSERT_TRUE(c.last_sent<HeartbeatAck>(1));
  EXPECT_EQ(c.last_sent<HeartbeatAck>(1)->sequence, 5u);
  c.from_node(1, Heartbeat{6, {c.report(key, AttemptPhase::ready)}});
  EXPECT_EQ(c.sent<Go>(1), 1u);
  AttemptReport unknown;
  unknown.attempt = {JobKey{JobId{77}, {}}, AttemptNo{1}};
  unknown.phase = AttemptPhase::running;
  c.from_node(1, Heartbeat{7, {c.report(key, AttemptPhase::running), unknown}});
  EXPECT_EQ(c.sent<Kill>(1), 1u) << "the controller does not know it";
  c.forget_sent();
  c.from_node(1, Heartbeat{8, {c.report(key, AttemptPhase::running)}});
  EXPECT_EQ(c.out.size(), 1u) << "nothing is owed but the answer";
}

}  // namespace
}  // namespace ares::core
