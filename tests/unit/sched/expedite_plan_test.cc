// Tests: indexed_node, job_classes, ranking, reason_text
// Failed jobs that return first: their place in the order, the nodes kept for them, and what others
// wait for. The plan of a planner that remembers is that of a new one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "core/sched/pass/plan_text.h"
#include "unit/sched/four_nodes.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

class Expedited : public ::testing::Test {
 protected:
  NodeId id(const std::string& name) const { return *cluster.state.node_ids.find(name); }
  // A job that failed and waits again; these nodes are kept for it.
  JobKey failed(JobSpec spec, const std::vector<std::string>& nodes) {
    spec.expedite = true;
    Job job = cluster.job(std::move(spec));
    job.attempt = AttemptNo{1};
    job.expedited_returns = 1;
    job.expedited = ExpeditedReturn{{}, kNow + minutes(10)};
    for (const std::string& name : nodes) job.expedited->nodes.push_back(id(name));
    const JobKey key = job.key;
    cluster.put(std::move(job));
    return key;
  }
  std::vector<std::string> nodes_of(const Plan& plan, const JobKey& key) const {
    const Start* start = start_of(plan, key);
    return start ? node_names(cluster.state, *start) : std::vector<std::string>{};
  }
  void fill(const std::string& name) {
    JobSpec spec = TestCluster::spec(4);
    spec.required_nodes = {name};
    const JobKey key = cluster.submit(spec);
    TestCluster alone = cluster;
    std::vector<JobKey> others;
    alone.state.pending.for_each([&](const JobKey& other, Lsn) {
      if (other != key) others.push_back(other);
    });
    for (const JobKey& other : others) {
      Job held = *alone.state.jobs.find(other);
      held.hold = Hold::user;
      held.expedited.reset();
      alone.put(std::move(held));
    }
    cluster.take(alone.plan(), kNow);
  }

  TestCluster cluster = four_nodes();
};

TEST_F(Expedited, ReturnsBeforeJobsOfHigherPriorityAndTier) {
  Partition high = cluster.partition();
  high.name = "high";
  high.tier = 9;
  cluster.put(high);
  JobSpec other = TestCluster::spec(16, 4);
  other.partitions = {"high"};
  const JobKey first = cluster.submit(other);
  const JobKey key = failed(TestCluster::spec(16, 4), {});
  const Plan plan = cluster.plan();
  EXPECT_THAT(nodes_of(plan, key), ElementsAre("n1", "n2", "n3", "n4"));
  EXPECT_FALSE(start_of(plan, first));
}

TEST_F(Expedited, TakesItsKeptNodesBeforeOthers) {
  const JobKey key = failed(TestCluster::spec(2, 2), {"n3"});
  EXPECT_THAT(nodes_of(cluster.plan(), key), testing::UnorderedElementsAre("n1", "n3"));
}

TEST_F(Expedited, OthersDoNotStartOnKeptNodesWhileItWaits) {
  fill("n1");
  fill("n2");
  const JobKey key = failed(TestCluster::spec(12, 3), {"n3"});
  const JobKey small = cluster.submit(TestCluster::spec());
  JobSpec there = TestCluster::spec();
  there.required_nodes = {"n3"};
  there.time_limit = minutes(1);
  const JobKey inside = cluster.submit(there);
  Budget details;
  details.details = true;
  const Plan plan = cluster.plan(kNow, details);
  EXPECT_FALSE(start_of(plan, key));
  EXPECT_NE(nodes_of(plan, small), std::vector<std::string>{"n3"});
  EXPECT_FALSE(start_of(plan, inside));
  ASSERT_TRUE(pending_of(plan, inside));
  EXPECT_THAT(pending_of(plan, inside)->detail,
              HasSubstr("1 kept for a job that returns first (job " +
                        std::to_string(key.job.value()) + ")"));
  ASSERT_TRUE(pending_of(plan, key));
  EXPECT_THAT(pending_of(plan, key)->detail, HasSubstr("returns first: 1 node is kept for it"));
}

TEST_F(Expedited, NoOtherJobGetsAKeptNodeByPreemption) {
  Partition low = cluster.partition(), high = low;
  low.preempt_mode = PreemptMode::requeue;
  cluster.put(low);
  high.name = "high";
  high.tier = 5;
  cluster.put(high);
  for (const char* name : {"n1", "n2", "n3", "n4"}) fill(name);
  const JobKey key = failed(TestCluster::spec(4), {"n2"});
  JobSpec above = TestCluster::spec(4);
  above.partitions = {"high"};
  above.required_nodes = {"n2"};
  const JobKey other = cluster.submit(above);
  const Plan plan = cluster.plan(kNow + minutes(30));
  for (const PlanGroup& group : plan.groups) {
    EXPECT_FALSE(!group.claims.empty() && group.claims.front().key == other);
  }
  EXPECT_FALSE(start_of(plan, key));
}

TEST_F(Expedited, OnceItHasStartedOthersGetWhatIsLeft) {
  const JobKey key = failed(TestCluster::spec(), {"n1"});
  cluster.take(cluster.plan(), kNow);
  ASSERT_EQ(cluster.state.jobs.find(key)->state, JobState::running);
  JobSpec there = TestCluster::spec();
  there.required_nodes = {"n1"};
  const JobKey other = cluster.submit(there);
  EXPECT_THAT(nodes_of(cluster.plan(), other), ElementsAre("n1"));
}

TEST_F(Expedited, DrainedNodeIsNotUsed) {
  const JobKey key = failed(TestCluster::spec(), {"n1"});
  Node node = cluster.node("n1");
  node.admin = AdminState::drain;
  cluster.put(node);
  EXPECT_THAT(nodes_of(cluster.plan(), key), ElementsAre("n2"));
}

TEST_F(Expedited, SpareNodesTakeThePlaceOfFailedOnes) {
  JobSpec spec = TestCluster::spec(12, 3);  // two nodes and a spare one
  spec.tasks_per_node = 4;
  spec.spare_nodes = 1;
  fill("n4");
  const JobKey key = failed(spec, {"n1", "n3"});
  EXPECT_THAT(nodes_of(cluster.plan(), key), ElementsAre("n1", "n2", "n3")) << "all there are";
  fill("n2");
  ASSERT_TRUE(cluster.state.jobs.find(key)->expedited) << "it has not started";
  EXPECT_THAT(nodes_of(cluster.plan(), key), ElementsAre("n1", "n3"));
}

TEST_F(Expedited, IsTheFirstUnderEveryQueuePolicy) {
  for (const QueuePolicy policy :
       {QueuePolicy::priority, QueuePolicy::fifo, QueuePolicy::multifactor, QueuePolicy::fair_tree,
        QueuePolicy::drf}) {
    cluster = four_nodes();
    Fairness rules;
    rules.policy = policy;
    cluster.policy.fairness.value = std::make_shared<const Fairness>(rules);
    const JobKey other = cluster.submit(TestCluster::spec(16, 4));
    const JobKey key = failed(TestCluster::spec(16, 4), {});
    const Plan plan = cluster.plan();
    EXPECT_TRUE(start_of(plan, key)) << static_cast<int>(policy);
    EXPECT_FALSE(start_of(plan, other)) << static_cast<int>(policy);
  }
}

// Random starts, failures, ends and expiries; checked against a new planner after each.
TEST_F(Expedited, PlannerThatRemembersPlansWhatANewOneWould) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    cluster = four_nodes();
    Random random(seed);
    Planner planner;
    Time now = kNow;
    for (int step = 0; step < 30; ++step) {
      now += minutes(1);
      const auto tasks = static_cast<std::uint32_t>(1 + random.below(6));
      JobSpec spec = TestCluster::spec(tasks, static_cast<std::uint32_t>(1 + random.below(tasks)));
      spec.min_nodes = spec.max_nodes = std::min(spec.min_nodes, 4u);
      spec.time_limit = minutes(1 + static_cast<int>(random.below(60)));
      cluster.submit(spec);
      std::vector<JobKey> running, returning;
      cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
        if (job.state == JobState::running) running.push_back(key);
        if (job.expedited) returning.push_back(key);
      });
      for (const JobKey& key : running) {
        if (random.below(3) > 0) continue;
        Job job = *cluster.state.jobs.find(key);
        cluster.end(key);
        if (random.below(2) > 0) continue;
        job.expedited = ExpeditedReturn{{}, now + minutes(10)};
        for (const NodeShare& share : job.allocation->nodes)
          if (!cluster.state.kept_nodes.find(share.node))
            job.expedited->nodes.push_back(share.node);
        job.expedited_returns = 1;
        job.state = JobState::pending;
        job.allocation.reset();
        job.version = Lsn(1000 + seed * 1000 + static_cast<std::uint64_t>(step));
        cluster.put(std::move(job));
      }
      for (const JobKey& key : returning) {
        if (random.below(4) > 0) continue;
        Job job = *cluster.state.jobs.find(key);
        job.expedited->nodes.clear();
        job.version = Lsn(job.version.value() + 1);
        cluster.put(std::move(job));
      }
      const Plan plan = planner.plan(cluster.state, cluster.policy, {}, now);
      ASSERT_EQ(plan_text(plan), plan_text(cluster.plan(now))) << seed << " step " << step;
      ASSERT_EQ(over_commitment(cluster.state, plan), "");
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts)
          for (const NodeShare& share : start.nodes) {
            const JobKey* kept = cluster.state.kept_nodes.find(share.node);
            ASSERT_TRUE(!kept || *kept == start.key || start_of(plan, *kept));
          }
      cluster.take(plan, now);
    }
  }
}

}  // namespace
}  // namespace ares::core::sched
