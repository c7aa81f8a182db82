// Tests: preemptor
// Properties of preemption: victims are minimal, compared with every subset, and a life with
// preemption over-commits nothing and stays within its limits.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/random.h"
#include "core/cluster/preemptible.h"
#include "core/sched/index/demand.h"
#include "core/sched/pass/plan_text.h"
#include "core/sched/pass/preempt.h"
#include "core/sched/place/filter.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

void add_some_nodes(TestCluster& cluster, Random& dice) {
  for (std::uint32_t i = 0, nodes = 1 + dice.upto(3); i < nodes; ++i)
    cluster.add_node("n" + std::to_string(i), 2 + dice.upto(6));
  add_tiers(cluster);
}

std::vector<AttemptKey> run_some(TestCluster& cluster, Random& dice) {
  std::vector<AttemptKey> low;
  std::vector<std::string> names = cluster.partition().nodes;
  for (std::uint32_t i = 0, jobs = 2 + dice.upto(6); i < jobs; ++i) {
    dice.shuffle(names);
    const std::uint32_t wide = dice.percent(30) ? 2 : 1;
    const std::uint32_t cpus = 1 + dice.upto(3);
    std::vector<std::string> some(
        names.begin(),
        names.begin() + std::min<std::ptrdiff_t>(wide, static_cast<std::ptrdiff_t>(names.size())));
    const bool room = std::all_of(some.begin(), some.end(), [&](const std::string& name) {
      const Node node = cluster.node(name);
      std::uint32_t used = cpus;
      for (const Charge& charge : node.charges) used += charge.cpus;
      return used <= node.inventory.cpus;
    });
    if (!room) continue;
    const bool safe = dice.percent(25);
    const JobKey key = run(cluster, some, cpus, kNow - minutes(2 + dice.upto(300)),
                           safe ? "high" : "main", hours(100));
    if (!safe) low.push_back({key, AttemptNo(1)});
  }
  return low;
}

// Whether the job fits on the resources that are free without these attempts: uses the planner's
// own fit on a cluster without them.
bool fits_without(TestCluster cluster, const JobSpec& spec, const std::set<AttemptKey>& gone) {
  for (const AttemptKey& victim : gone) cluster.end(victim.job);
  ClusterIndex index(cluster.state);
  const Partition high = cluster.partition("high");
  const Demand demand = make_demand(spec, high, index);
  const std::vector<NodeIndex> members = index.members(high);
  SearchBudget work = SearchBudget::unbounded();
  return fit_on(demand, {members}, index, CapacityBasis::free_now, work).has_value();
}

TEST(PreemptProperty, VictimsAreSufficientAndMinimal) {
  int found = 0, none = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_some_nodes(cluster, dice);
    const std::vector<AttemptKey> low = run_some(cluster, dice);
    cluster.policy.preemption.per_hour = cluster.policy.preemption.per_day = 0;
    JobSpec spec = high_spec(1 + dice.upto(7), 1);
    if (dice.percent(40)) spec = high_spec(2 + dice.upto(6), 2);
    if (dice.percent(15)) spec.exclusive = true;
    const JobKey key = cluster.submit(spec);
    const Plan plan = cluster.plan();
    if (start_of(plan, key)) continue;
    const std::set<AttemptKey> all(low.begin(), low.end());
    const ProposedClaim* made = claim_of(plan, key);
    if (!made) {
      ++none;
      ASSERT_FALSE(!all.empty() && fits_without(cluster, spec, all)) << "seed " << seed;
      continue;
    }
    ++found;
    const std::vector<AttemptKey>& victims = made->claim.victims;
    for (const AttemptKey& victim : victims) ASSERT_TRUE(all.contains(victim)) << "seed " << seed;
    ASSERT_TRUE(fits_without(cluster, spec, {victims.begin(), victims.end()})) << "seed " << seed;
    const std::size_t subsets = std::size_t{1} << victims.size();
    for (std::size_t bits = 0; bits + 1 < subsets; ++bits) {
      std::set<AttemptKey> some;
      for (std::size_t i = 0; i < victims.size(); ++i)
        if (bits >> i & 1) some.insert(victims[i]);
      ASSERT_FALSE(fits_without(cluster, spec, some)) << "seed " << seed << " subset " << bits;
    }
    // No set of cheaper jobs alone is enough, so the most expensive victim is as cheap as possible.
    std::set<AttemptKey> cheaper;
    const auto lost = [&](const AttemptKey& attempt) {
      const Job& job = *cluster.state.jobs.find(attempt.job);
      std::int64_t cpus = 0;
      for (const NodeShare& share : job.allocation->nodes) cpus += share.cpus;
      return cpus * (kNow - *job.started).count();
    };
    std::int64_t dearest = 0;
    for (const AttemptKey& victim : victims) dearest = std::max(dearest, lost(victim));
    for (const AttemptKey& one : low)
      if (lost(one) < dearest) cheaper.insert(one);
    ASSERT_FALSE(fits_without(cluster, spec, cheaper)) << "seed " << seed;
  }
  EXPECT_GT(found, 150);
  EXPECT_GT(none, 20);
}

// Jobs of both tiers arrive and end; victims release their resources some time after the
// preemption. A planner with kept state plans the same as a new one, nothing is over-committed, and
// every preemption lets a job start with the resources of its claim.
TEST(PreemptProperty, LivesWithPreemptionStayWithinEveryLimit) {
  int evictions = 0, served = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_some_nodes(cluster, dice);
    cluster.policy.preemption.per_hour = 1 + dice.upto(4);
    cluster.policy.preemption.per_day = 2 + dice.upto(8);
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(2)};
    Planner planner;
    Budget budget;
    budget.details = seed % 2 == 0;
    Time now = kNow;
    std::set<JobKey> promised;
    for (int step = 0; step < 30; ++step) {
      for (std::uint32_t i = dice.upto(2); i > 0; --i) {
        JobSpec spec = TestCluster::spec(1 + dice.upto(4), 1 + dice.upto(1));
        spec.partitions = {dice.percent(40) ? "high" : "main"};
        if (dice.percent(10)) spec.partitions = {"main", "high"};
        spec.uid = UserId(1 + dice.upto(1));
        if (dice.percent(8)) spec.exclusive_user = true;
        spec.time_limit = minutes(1 + dice.upto(300));
        cluster.submit(spec);
      }
      const Plan plan = planner.plan(cluster.state, cluster.policy, budget, now);
      ASSERT_EQ(plan_text(plan), plan_text(cluster.plan(now, budget)))
          << "seed " << seed << " step " << step;
      ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed << " step " << step;
      std::map<UserId, std::uint32_t> used;
      for (const PlanGroup& group : plan.groups) {
        if (group.claims.empty()) continue;
        const auto& [key, claim] = group.claims.front();
        const Job& job = *cluster.state.jobs.find(key);
        ASSERT_TRUE(may_preempt(job, now));
        for (const AttemptKey& victim : claim.victims) {
          const Job& other = *cluster.state.jobs.find(victim.job);
          const auto from = preemptible_from(cluster.state, cluster.policy, *job.spec,
                                             cluster.partition(claim.partition), other);
          ASSERT_TRUE(from && *from <= now) << "seed " << seed << " step " << step;
          ++used[job.spec->uid];
          ++evictions;
        }
        promised.insert(job.key);
      }
      for (const auto& [user, count] : used)
        ASSERT_LE(count, evictions_left(cluster.state, cluster.policy, user, now).count)
            << "seed " << seed << " step " << step;
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts) served += promised.erase(start.key) > 0 ? 1 : 0;
      cluster.take(plan, now);
      cluster.evict(plan, now);
      std::vector<JobKey> over;
      cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
        if (job.state == JobState::completing && dice.percent(50)) over.push_back(key);
        if (job.state == JobState::running &&
            (*job.started + *job.allocation->time_limit <= now || dice.percent(8)))
          over.push_back(key);
      });
      for (const JobKey& key : over) cluster.end(key);
      now += dice.percent(50) ? Duration(Seconds(dice.upto(20))) : Duration(minutes(dice.upto(20)));
    }
  }
  EXPECT_GT(evictions, 200);
  EXPECT_GT(served, 100);
}

}  // namespace
}  // namespace ares::core::sched
