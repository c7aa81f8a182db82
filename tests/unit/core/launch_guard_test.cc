// Tests: cluster/launch_guard, node_guard
// A node whose launches fail by its own fault is set aside, tried again later, and hurts no job.
#include "core/cluster/launch_guard.h"

#include <random>

#include "core/state/indexes.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using namespace std::chrono_literals;

Policy guarded(std::uint32_t failures = 3) {
  Policy p = Cluster::default_policy();
  p.launch_guard = {failures, Seconds(600), Seconds(600)};
  return p;
}

class Guard : public Cluster {
 public:
  explicit Guard(Policy rules = guarded()) : Cluster(3, std::move(rules)) {}

  // A launch on the node that it refuses; gives the job.
  JobKey refuse_on(int n, const std::string& cause = "cannot write to the node's spool: No space",
                   bool node_fault = true) {
    const JobKey key = submit();
    allocate(key, {n});
    AttemptReport r = report(key, AttemptPhase::never_ran);
    from_node(n, LaunchRefused{r.attempt, r.fence, node_fault, cause});
    return key;
  }
  void set_aside(int n) {
    for (int i = 0; i < 3; ++i) refuse_on(n);
    ASSERT_EQ(node(n).admin, AdminState::drain);
  }
  bool takes_plan(JobKey key, int n) {
    plan({group(key, {n})});
    return job(key).state == JobState::configuring;
  }
  void heartbeat(int n, const std::string& fault) {
    Heartbeat h;
    h.sequence = ++beats_;
    h.fault = fault;
    from_node(n, h);
  }

 private:
  std::uint64_t beats_ = 0;
};

TEST(LaunchGuard, AfterThreeFailuresWithinTheWindowTheNodeIsSetAsideWithTheLastCause) {
  Guard c;
  c.refuse_on(1, "first");
  c.refuse_on(1, "second");
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  c.refuse_on(1, "no space left");
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "3 launches failed within 00:10:00; last: no space left");
  EXPECT_FALSE(c.node(1).reason_by) << "the controller did it";
  EXPECT_EQ(c.node(1).reason_at, c.now);
  EXPECT_EQ(c.node(2).admin, AdminState::up);
}

TEST(LaunchGuard, TheJobsRunElsewhereWithoutALossOfTheirBudget) {
  Guard c;
  std::vector<JobKey> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(c.refuse_on(1));
  c.tick(1h);
  for (const JobKey& key : jobs) {
    EXPECT_EQ(c.job(key).state, JobState::pending);
    EXPECT_EQ(c.job(key).hold, Hold::none);
    EXPECT_EQ(c.job(key).restarts, 0u);
    EXPECT_EQ(c.job(key).excluded, std::vector{c.id_of(1)});
    c.start(key, {2});
    EXPECT_EQ(c.job(key).state, JobState::running);
  }
}

TEST(LaunchGuard, FailuresOutsideTheWindowDoNotCount) {
  Guard c;
  c.refuse_on(1);
  c.refuse_on(1);
  c.tick(601s);
  c.refuse_on(1);
  c.refuse_on(1);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  c.refuse_on(1);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
}

TEST(LaunchGuard, FaultsOfJobsDoNotCount) {
  Guard c;
  for (int i = 0; i < 10; ++i) c.refuse_on(1, "user 1000 does not exist here", false);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_EQ(c.node(1).guard, NodeGuard{});
}

TEST(LaunchGuard, ZeroFailuresSwitchesItOff) {
  Guard c(guarded(0));
  for (int i = 0; i < 10; ++i) c.refuse_on(1);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
}

TEST(LaunchGuard, SilenceAndRestartsOfTheNodeDoNotCount) {
  Guard c;
  for (int i = 0; i < 4; ++i) {
    const JobKey key = c.submit();
    c.allocate(key, {1});
    ++c.incarnation[1];
    c.register_node(1);
    EXPECT_EQ(c.job(key).state, JobState::pending);
  }
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  for (int i = 0; i < 4; ++i) c.allocate(c.submit(), {1});
  c.now += 2000s;
  c.run({NodeSilent{c.id_of(1), c.now - 1900s}});
  ASSERT_EQ(c.node(1).contact, Contact::lost);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
}

// All launches on a node that hangs are late together.
TEST(LaunchGuard, LateLaunchesCountOnceInTheTimeForPreparing) {
  Policy policy = guarded();
  policy.prepare_timeout = Seconds(100);
  policy.lease = Seconds(100'000);
  Guard c(policy);
  for (int i = 0; i < 2; ++i) c.allocate(c.submit(), {1});
  c.tick(101s);
  EXPECT_EQ(c.node(1).guard.failures.size(), 1u);
  for (int round = 0; round < 2; ++round) {
    c.allocate(c.submit(), {1});
    c.tick(101s);
  }
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "3 launches failed within 00:10:00; last: not ready within 100 s");
}

TEST(LaunchGuard, TheNodeIsTriedWithOneJobAndStaysWhenThatStarts) {
  Guard c;
  c.set_aside(1);
  c.tick(599s);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  c.tick(1s);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_TRUE(c.node(1).reason.empty());
  EXPECT_TRUE(takes_jobs(c.node(1)));

  const JobKey first = c.submit(), second = c.submit();
  c.plan({c.group(first, {1}), c.group(second, {1})});
  EXPECT_EQ(c.job(first).state, JobState::configuring);
  EXPECT_EQ(c.job(second).state, JobState::pending) << "one job at a time";
  EXPECT_FALSE(takes_jobs(c.node(1)));
  EXPECT_FALSE(c.takes_plan(second, 1));
  c.progress(1, first, AttemptPhase::ready);
  EXPECT_FALSE(c.takes_plan(second, 1)) << "its user code does not run yet";
  c.progress(1, first, AttemptPhase::running);
  EXPECT_EQ(c.node(1).guard, NodeGuard{});
  EXPECT_TRUE(c.takes_plan(second, 1));
}

TEST(LaunchGuard, TheTimeUntilTheNextTrialDoublesUpToADay) {
  Guard c;
  c.set_aside(1);
  for (Seconds wait : {600s, 1200s, 2400s}) {
    ASSERT_EQ(c.node(1).guard.retry_at, c.now + wait);
    c.tick(wait);
    ASSERT_EQ(c.node(1).admin, AdminState::up);
    c.refuse_on(1, "still full");
    ASSERT_EQ(c.node(1).admin, AdminState::drain) << "one failure on trial is enough";
    EXPECT_EQ(c.node(1).reason, "the launch failed with which it was tried again: still full");
  }
  for (int i = 0; i < 20; ++i) {
    c.tick(24h);
    ASSERT_EQ(c.node(1).admin, AdminState::up);
    c.refuse_on(1);
  }
  EXPECT_EQ(c.node(1).guard.retry_at, c.now + 24h);
}

TEST(LaunchGuard, AJobThatEndsBeforeItRunsLeavesTheTrialOpen) {
  Guard c;
  c.set_aside(1);
  c.tick(600s);
  const JobKey key = c.submit();
  c.allocate(key, {1});
  c.cancel(key);
  c.progress(1, key, AttemptPhase::never_ran);
  EXPECT_TRUE(c.node(1).guard.on_trial);
  EXPECT_TRUE(takes_jobs(c.node(1)));
}

// The batch script ends before its other node has said that it runs, or a node says only the end.
TEST(LaunchGuard, AShortJobEndsTheTrialToo) {
  for (const bool says_running : {false, true}) {
    Guard c;
    c.set_aside(1);
    c.tick(600s);
    ASSERT_TRUE(c.node(1).guard.on_trial);
    JobSpec spec = c.spec();
    spec.min_nodes = spec.max_nodes = 2;
    const JobKey key = c.submit(spec);
    c.allocate(key, {2, 1});
    for (const int n : {2, 1}) c.progress(n, key, AttemptPhase::ready);
    c.progress(2, key, AttemptPhase::done);
    ASSERT_EQ(c.job(key).state, JobState::completing);
    if (says_running) c.progress(1, key, AttemptPhase::running);
    EXPECT_NE(c.node(1).guard.on_trial, says_running);
    c.progress(1, key, AttemptPhase::done);
    EXPECT_FALSE(c.node(1).guard.on_trial);
    EXPECT_EQ(c.job(key).state, JobState::completed);
  }
}

TEST(LaunchGuard, AnOperatorsDecisionReplacesIt) {
  Guard c;
  c.set_aside(1);
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_EQ(c.node(1).guard, NodeGuard{});
  const JobKey a = c.submit(), b = c.submit();
  c.plan({c.group(a, {1}), c.group(b, {1})});
  EXPECT_EQ(c.job(b).state, JobState::configuring) << "no trial";

  c.set_aside(2);
  c.user(kOperator, UpdateNode{{"n2"}, AdminState::drain, "disk ordered"});
  c.tick(48h);
  EXPECT_EQ(c.node(2).admin, AdminState::drain) << "it does not come back by itself any more";
  EXPECT_EQ(c.node(2).reason, "disk ordered");
}

TEST(LaunchGuard, AnOperatorMayEndATrial) {
  Guard c;
  c.set_aside(1);
  c.tick(600s);
  ASSERT_TRUE(c.node(1).guard.on_trial);
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
  EXPECT_EQ(c.node(1).guard, NodeGuard{});
}

TEST(LaunchGuard, ANodeThatAnOperatorDrainedIsLeftAlone) {
  Guard c;
  std::vector<JobKey> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(c.submit());
    c.allocate(jobs.back(), {1});
  }
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::drain, "fan"});
  for (const JobKey& key : jobs) {
    const AttemptReport r = c.report(key, AttemptPhase::never_ran);
    c.from_node(1, LaunchRefused{r.attempt, r.fence, true, "broken"});
  }
  EXPECT_EQ(c.node(1).reason, "fan");
  EXPECT_EQ(c.node(1).guard, NodeGuard{});
}

TEST(LaunchGuard, ARestartOfTheMachineIsTriedAtOnce) {
  Guard c;
  c.set_aside(1);
  ++c.incarnation[1];
  c.register_node(1);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_TRUE(c.node(1).guard.on_trial);
  EXPECT_EQ(c.node(1).guard.rounds, 1u) << "if it fails again the pause is longer";
}

TEST(LaunchGuard, ARestartOfTheDaemonChangesNothing) {
  Guard c;
  c.set_aside(1);
  c.register_node(1);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_TRUE(c.node(1).guard.retry_at);
}

// Random lives of a node. The rules are checked after every step.
TEST(LaunchGuard, HoldsItsRulesOverRandomHistories) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    Guard c;
    std::vector<JobKey> jobs;
    std::vector<Time> failed;  // since the node was last in service without a trial
    for (int step = 0; step < 400; ++step) {
      const Node before = c.node(1);
      const bool could = takes_jobs(before);
      const unsigned action = random() % 10;
      if (action < 5) {
        jobs.push_back(c.submit());
        c.plan({c.group(jobs.back(), {1})});
        ASSERT_EQ(c.job(jobs.back()).state == JobState::configuring,
                  could && before.charges.size() < 4);
        if (c.job(jobs.back()).state != JobState::configuring) {
          c.cancel(jobs.back());
        } else if (action < 3) {
          const AttemptReport r = c.report(jobs.back(), AttemptPhase::never_ran);
          c.from_node(1, LaunchRefused{r.attempt, r.fence, true, "broken"});
          failed.push_back(c.now);
          EXPECT_EQ(c.job(jobs.back()).state, JobState::pending);
          EXPECT_EQ(c.job(jobs.back()).hold, Hold::none);
          c.cancel(jobs.back());
        } else {
          c.progress(1, jobs.back(), AttemptPhase::ready);
          c.progress(1, jobs.back(), AttemptPhase::running);
          ASSERT_FALSE(c.node(1).guard.on_trial);
          c.progress(1, jobs.back(), AttemptPhase::done);
        }
      } else if (action < 8) {
        c.tick(Seconds(random() % 400));
      } else if (action == 8) {
        c.heartbeat(1, random() % 2 ? "full" : "");
      } else if (random() % 4 == 0) {
        c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
        failed.clear();
      }
      const Node& node = c.node(1);
      const NodeGuard& guard = node.guard;
      if (guard.retry_at) {
        EXPECT_TRUE(is_set_aside(node));
        EXPECT_FALSE(takes_jobs(node));
        EXPECT_FALSE(guard.on_trial);
        EXPECT_GT(guard.rounds, 0u);
      }
      if (is_set_aside(node)) {
        EXPECT_TRUE(guard.retry_at || !guard.fault.empty());
      }
      EXPECT_LT(guard.failures.size(), 3u);
      if (guard.retry_at && !before.guard.retry_at && !before.guard.on_trial) {
        const auto recent = std::count_if(failed.begin(), failed.end(),
                                          [&](Time at) { return at + Seconds(600) >= c.now; });
        EXPECT_GE(recent, 3);
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

// A controller that starts on these records goes on where the last one was.
TEST(LaunchGuard, IsFoundAgainByANewController) {
  Guard c;
  c.set_aside(1);
  c.refuse_on(2);
  ClusterState recovered = c.state();
  recovered.epoch = Epoch{2};
  rebuild_indexes(recovered);
  ASSERT_EQ(recovered.watched, c.state().watched);
  ASSERT_EQ(recovered.watched.size(), 1u);
  Engine next(recovered, c.policy);
  next.handle({Activate{Epoch{2}, "other"}}, c.now, 1);
  next.handle({Tick{}}, c.now + 600s, 2);
  const Node& node = *next.state().nodes.find(c.id_of(1));
  EXPECT_EQ(node.admin, AdminState::up);
  EXPECT_TRUE(node.guard.on_trial);
  EXPECT_EQ(next.state().nodes.find(c.id_of(2))->guard.failures.size(), 1u);
}

TEST(NodeFault, TheNodeIsOutOfServiceWhileItReportsOne) {
  Guard c;
  c.heartbeat(1, "the disk of the spool is full: /var/spool/ares/n1");
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "the disk of the spool is full: /var/spool/ares/n1");
  const std::size_t events = c.events.size();
  c.heartbeat(1, "the disk of the spool is full: /var/spool/ares/n1");
  EXPECT_EQ(c.events.size(), events) << "the same fault makes no further event";
  c.heartbeat(1, "");
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_EQ(c.node(1).guard, NodeGuard{});
}

TEST(NodeFault, IsToldWithTheRegistrationAlready) {
  Guard c;
  Register r;
  r.name = "n1";
  r.incarnation = 1;
  r.incarnation_tag = "n1/1";
  r.inventory = Cluster::machine();
  r.can_freeze = true;
  r.fault = "its clock is wrong";
  c.from_node(1, r);
  EXPECT_EQ(c.node(1).reason, "its clock is wrong");
  c.register_node(1);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
}

TEST(NodeFault, ANodeThatIsTooSmallStaysOutOfServiceWhenTheFaultEnds) {
  Guard c;
  Inventory small = Cluster::machine();
  small.cpus = 2;
  c.register_node(1, {}, small);
  c.heartbeat(1, "full");
  EXPECT_EQ(c.node(1).reason, "full");
  c.heartbeat(1, "");
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "Low CPUs (2 < 4)");
}

TEST(NodeFault, AFaultThatLastsKeepsANodeFromItsTrial) {
  Guard c;
  c.set_aside(1);
  c.heartbeat(1, "full");
  EXPECT_EQ(c.node(1).reason, "full");
  c.tick(600s);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  c.heartbeat(1, "");
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_TRUE(c.node(1).guard.on_trial);
}

// The launches that failed before the node reported the cause.
TEST(NodeFault, WhenItEndsANodeWhoseLaunchesFailedIsTriedAtOnce) {
  Guard c;
  c.set_aside(1);
  c.heartbeat(1, "full");
  EXPECT_EQ(c.node(1).reason, "full");
  c.heartbeat(1, "");
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_TRUE(c.node(1).guard.on_trial);
  EXPECT_FALSE(c.node(1).guard.retry_at);
}

TEST(NodeFault, AnOperatorMayResumeTheNodeInSpiteOfIt) {
  Guard c;
  c.heartbeat(1, "clock");
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
  c.heartbeat(1, "clock");
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  c.heartbeat(1, "");
  c.heartbeat(1, "clock");
  EXPECT_EQ(c.node(1).admin, AdminState::drain) << "a new fault counts";
}

TEST(ReturnToService, ALostNodeComesBackUnlessTheSiteSaysNever) {
  for (const std::uint32_t rule : {kReturnNever, kReturnLost, kReturnAlways}) {
    Policy policy = guarded();
    policy.return_to_service = rule;
    Guard c(policy);
    c.now += 2000s;
    c.run({NodeSilent{c.id_of(1), c.now - 1900s}});
    ASSERT_EQ(c.node(1).contact, Contact::lost);
    c.register_node(1);
    EXPECT_EQ(takes_jobs(c.node(1)), rule != kReturnNever);
    if (rule != kReturnNever) continue;
    EXPECT_EQ(c.node(1).admin, AdminState::fail);
    EXPECT_EQ(c.node(1).reason, "was not responding");
    c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
    EXPECT_TRUE(takes_jobs(c.node(1)));
  }
}

TEST(ReturnToService, OnlyWithTwoANodeComesBackThatAnOperatorSetDown) {
  for (const std::uint32_t rule : {kReturnNever, kReturnLost, kReturnAlways}) {
    Policy policy = guarded();
    policy.return_to_service = rule;
    Guard c(policy);
    c.user(kOperator, UpdateNode{{"n1"}, AdminState::down, "burnt"});
    ++c.incarnation[1];
    c.register_node(1);
    EXPECT_EQ(c.node(1).admin, rule == kReturnAlways ? AdminState::up : AdminState::down);
  }
}

TEST(NodeState, FailIsLikeDrain) {
  Guard c;
  const JobKey runs = c.submit();
  c.start(runs, {1});
  EXPECT_TRUE(c.user(kOperator, UpdateNode{{"n1"}, AdminState::fail, {}}).failed) << "a reason";
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::fail, "ECC errors"});
  EXPECT_EQ(c.job(runs).state, JobState::running);
  EXPECT_FALSE(c.takes_plan(c.submit(), 1));
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, {}});
  EXPECT_TRUE(c.takes_plan(c.submit(), 1));
}

}  // namespace
}  // namespace ares::core
