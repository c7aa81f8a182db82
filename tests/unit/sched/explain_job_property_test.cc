// Tests: change_kinds, change_search
// Every suggested change lets the job start: on random clusters each change is made, and the next
// pass starts the job.
#include <gtest/gtest.h>

#include "core/sched/why/explanation.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

bool would_start(const TestCluster& cluster, const Job& job, Time now) {
  TestCluster with = cluster;
  with.put(job);
  const Plan plan = with.plan(now);
  for (const PlanGroup& group : plan.groups)
    if (group.jobs.front().first == job.key) return true;
  return false;
}

struct Seen {
  int waiting = 0, with_changes = 0, changes = 0, pairs = 0, starting = 0;
};

void check_waiting(const TestCluster& cluster, Time now, std::uint64_t seed, Seen& seen) {
  const Plan plan = cluster.plan(now);
  std::vector<Job> waiting;
  cluster.state.pending.for_each(
      [&](const JobKey& key, Lsn) { waiting.push_back(*cluster.state.jobs.find(key)); });
  for (const Job& job : waiting) {
    const JobExplanation why =
        explain_job(cluster.state, cluster.policy, job, plan.pending.find(job.key), now);
    const std::string which =
        "seed " + std::to_string(seed) + " job " + std::to_string(job.key.job.value());
    ASSERT_EQ(why.starts_now, would_start(cluster, job, now)) << which;
    if (why.starts_now) {
      ++seen.starting;
      continue;
    }
    ++seen.waiting;
    ASSERT_FALSE(why.causes.empty()) << which;
    for (const WaitCause& cause : why.causes) ASSERT_FALSE(cause.text.empty()) << which;
    ASSERT_FALSE(why.cut) << which;
    seen.with_changes += why.changes.empty() ? 0 : 1;
    for (const SuggestedChange& change : why.changes) {
      ++seen.changes;
      ASSERT_TRUE(would_start(cluster, change.job, now)) << which << " " << change.text;
      ASSERT_FALSE(change.job == job) << which << " " << change.text;
    }
  }
}

TEST(WhyProperty, SuggestedChangesLetTheJobStart) {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(2)};
    if (dice.percent(30)) {
      auto rules = std::make_shared<Fairness>();
      rules->policy = QueuePolicy::multifactor;
      rules->weights.age = 1000;
      rules->weights.job_size = 2000;
      cluster.policy.fairness.value = rules;
    }
    Time now = kNow;
    for (int step = 0; step < 4; ++step) {
      for (std::uint32_t i = 1 + dice.upto(4); i > 0; --i) {
        Job job = cluster.job(random_spec(dice));
        if (dice.percent(8)) job.hold = Hold::user;
        cluster.put(job);
      }
      if (dice.percent(80)) cluster.take(cluster.plan(now), now);
      check_waiting(cluster, now, seed, seen);
      if (HasFatalFailure()) return;
      for (const JobKey& key : running(cluster))
        if (dice.percent(20)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
  EXPECT_GT(seen.waiting, 1000);
  EXPECT_GT(seen.with_changes, 400);
  EXPECT_GT(seen.starting, 50);
}

}  // namespace
}  // namespace ares::core::sched
