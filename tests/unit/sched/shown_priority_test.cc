#include "core/sched/queue/shown_priority.h"

#include <gtest/gtest.h>

#include "core/sched/queue/priority_report.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;

// One node of one CPU, and multifactor priority in which a QOS decides.
TestCluster by_qos() {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  Fairness rules;
  rules.policy = QueuePolicy::multifactor;
  rules.weights.qos = 1000;
  rules.qos = {{"high", 10}, {"low", 5}};
  cluster.policy.fairness.value = std::make_shared<const Fairness>(std::move(rules));
  return cluster;
}

JobKey submit(TestCluster& cluster, const std::string& qos) {
  JobSpec spec = TestCluster::spec();
  spec.qos = qos;
  spec.time_limit = hours(1);
  return cluster.submit(spec);
}

std::uint32_t shown(const TestCluster& cluster, const JobKey& key) {
  return ShownPriorities(cluster.state, cluster.policy, kNow).of(*cluster.state.jobs.find(key));
}

TEST(ShownPriority, OfAWaitingJobIsTheComputedOne) {
  TestCluster cluster = by_qos();
  const JobKey low = submit(cluster, "low"), high = submit(cluster, "high");
  const PriorityReport report = priority_report(cluster.state, cluster.policy, kNow);
  for (const PriorityLine& line : report.lines)
    EXPECT_EQ(shown(cluster, line.job->key), line.value) << line.job->key.job.value();
  EXPECT_EQ(shown(cluster, high), 1000u);
  EXPECT_EQ(shown(cluster, low), 500u);
}

TEST(ShownPriority, IsZeroOnlyOfHeldJobs) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  const JobKey key = submit(cluster, "");
  EXPECT_EQ(shown(cluster, key), 1u) << "its partition gives it none";
  Job held = *cluster.state.jobs.find(key);
  held.hold = Hold::user;
  held.priority = 7;
  cluster.put(held);
  EXPECT_EQ(shown(cluster, key), 0u);
}

TEST(ShownPriority, OfAStartedJobHasTheAgeOfItsStart) {
  TestCluster cluster = by_qos();
  Fairness rules = *cluster.policy.fairness.value;
  rules.weights.age = 1'000'000;
  rules.max_age = hours(10);
  cluster.policy.fairness.value = std::make_shared<const Fairness>(std::move(rules));
  const JobKey high = submit(cluster, "high");
  Job waiting = *cluster.state.jobs.find(high);
  waiting.submitted = waiting.eligible = kNow - hours(1);
  cluster.put(waiting);
  EXPECT_EQ(shown(cluster, high), 101'000u);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].starts[0].priority, 101'000u) << "the start records it";
  cluster.take(plan, kNow);
  ASSERT_EQ(cluster.state.jobs.find(high)->state, JobState::running);
  EXPECT_EQ(ShownPriorities(cluster.state, cluster.policy, kNow + hours(2))
                .of(*cluster.state.jobs.find(high)),
            101'000u);
}

TEST(ShownPriority, OfAStartedJobIsWhatItsStartRecorded) {
  TestCluster cluster = by_qos();
  Job started = *cluster.state.jobs.find(submit(cluster, "high"));
  started.allocation = Allocation{};
  started.allocation->partition = "main";
  started.allocation->priority = 7;
  started.state = JobState::running;
  cluster.put(started);
  EXPECT_EQ(shown(cluster, started.key), 7u) << "usage and weights may have changed since";
}

}  // namespace
}  // namespace ares::core::sched
