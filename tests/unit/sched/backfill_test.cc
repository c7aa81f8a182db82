// Tests: nodes_with_capacity, late_nodes, pass_waiting, profile, place/search, typed_demand
// The kinds of backfill: which jobs may pass which, and that jobs that pass never delay a planned
// start.
#include "core/sched/time/backfill.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "core/sched/queue/order.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

constexpr Backfill kNone{BackfillKind::none, 1};
constexpr Backfill kEasy{BackfillKind::easy, 1};
constexpr Backfill kEasy3{BackfillKind::easy, 3};
constexpr Backfill kConservative{BackfillKind::conservative, 1};

JobSpec timed(std::uint32_t tasks, int limit) {
  JobSpec spec = TestCluster::spec(tasks);
  spec.max_nodes = 0;
  spec.time_limit = minutes(limit);
  return spec;
}

// One node of 8 CPUs, 6 of which are busy for an hour; the first waiting job needs all of it.
struct Blocked {
  TestCluster cluster;
  JobKey large;

  explicit Blocked(Backfill rule) {
    cluster.policy.backfill = rule;
    cluster.add_node("n1", 8);
    cluster.submit(timed(6, 60));
    cluster.take(cluster.plan(), kNow);
    large = cluster.submit(timed(8, 10));
  }
};

TEST(Backfill, WithKindNoneNoJobPasses) {
  Blocked b(kNone);
  const JobKey small = b.cluster.submit(timed(1, 5));
  const Plan plan = b.cluster.plan();
  EXPECT_FALSE(start_of(plan, small));
  EXPECT_EQ(pending_of(plan, small)->reason, Reason::priority);
  EXPECT_EQ(*pending_of(plan, b.large)->expected_start, kNow + minutes(60));
  // Since no job may pass, it starts after the large job ends.
  EXPECT_EQ(*pending_of(plan, small)->expected_start, kNow + minutes(70));
}

// Four nodes of one CPU: two are busy for an hour, one for two, one is free. The first that waits needs two.
struct OneFree {
  TestCluster cluster;
  JobKey first;

  explicit OneFree(Backfill rule) {
    cluster.policy.backfill = rule;
    for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add_node(name, 1);
    JobSpec hour = timed(2, 60), two_hours = timed(1, 120);
    hour.required_nodes = {"n2", "n3"};  // the free one is the first of those that are alike
    two_hours.required_nodes = {"n4"};
    cluster.submit(hour);
    cluster.submit(two_hours);
    cluster.take(cluster.plan(), kNow);
    first = cluster.submit(timed(2, 10));
  }
};

TEST(Backfill, PlannedStartTakesTheNodesThatComeFreeLast) {
  for (const Backfill rule : {kEasy, kConservative}) {
    OneFree c(rule);
    const JobKey later = c.cluster.submit(timed(1, 1000));
    const Plan plan = c.cluster.plan();
    EXPECT_EQ(*pending_of(plan, c.first)->expected_start, kNow + minutes(60));
    EXPECT_TRUE(start_of(plan, later)) << "the free node is not needed before it ends";
  }
}

TEST(Backfill, PlannedStartTakesNoMoreFreeNodesThanItNeeds) {
  for (const Backfill rule : {kEasy, kConservative}) {
    TestCluster cluster;
    cluster.policy.backfill = rule;
    for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add_node(name, 1);
    JobSpec on_last = timed(2, 60);
    on_last.required_nodes = {"n3", "n4"};
    cluster.submit(on_last);
    cluster.take(cluster.plan(), kNow);
    const JobKey first = cluster.submit(timed(3, 10));
    const JobKey one = cluster.submit(timed(1, 1000)), two = cluster.submit(timed(1, 1000));
    const Plan plan = cluster.plan();
    EXPECT_EQ(*pending_of(plan, first)->expected_start, kNow + minutes(60));
    EXPECT_TRUE(start_of(plan, one));
    EXPECT_FALSE(start_of(plan, two));
  }
}

TEST(Backfill, PlannedStartTakesAFreeNodeWhereTheOthersAreTooFew) {
  OneFree c(kEasy);
  const JobKey larger = c.cluster.submit(timed(3, 10));
  c.cluster.policy.backfill = kConservative;
  const JobKey later = c.cluster.submit(timed(1, 1000));
  const Plan plan = c.cluster.plan();
  // On the nodes of the first job after it, and the one that is free until then.
  EXPECT_EQ(*pending_of(plan, larger)->expected_start, kNow + minutes(70));
  EXPECT_FALSE(start_of(plan, later));
}

TEST(Backfill, KindNoneAffectsOnlyItsOwnPartition) {
  Blocked b(kEasy);
  Partition other = b.cluster.partition();
  other.name = "other";
  other.is_default = false;
  b.cluster.put(other);
  b.cluster.policy.backfill_of["main"] = kNone;
  const JobKey held = b.cluster.submit(timed(1, 5));
  JobSpec spec = timed(1, 5);
  spec.partitions = {"other"};
  const JobKey passes = b.cluster.submit(spec);
  JobSpec longer = timed(1, 90);
  longer.partitions = {"other"};
  const JobKey delays = b.cluster.submit(longer);
  const Plan plan = b.cluster.plan();
  EXPECT_FALSE(start_of(plan, held));
  EXPECT_TRUE(start_of(plan, passes));
  // The planned start of the first job of main is respected on these nodes too.
  EXPECT_FALSE(start_of(plan, delays));
}

TEST(Backfill, JobsThatCanNeverRunDelayNoOtherJob) {
  TestCluster cluster;
  cluster.policy.backfill = kNone;
  cluster.add_node("n1", 8);
  cluster.submit(timed(9, 10));
  const JobKey small = cluster.submit(timed(1, 5));
  EXPECT_TRUE(start_of(cluster.plan(), small));
}

// 2 of 8 CPUs are free. The first job needs 8 CPUs at minute 60, the second 4 after that; a long
// job on 2 CPUs delays only the second.
TEST(Backfill, OnlyPlannedStartsAreProtectedFromDelay) {
  for (const auto& [rule, starts] :
       {std::pair{kEasy, true}, std::pair{kEasy3, false}, std::pair{kConservative, false}}) {
    TestCluster cluster;
    cluster.policy.backfill = rule;
    cluster.add_node("n1", 4);
    cluster.add_node("n2", 4);
    cluster.submit(timed(4, 60));  // on n1
    JobSpec half = timed(2, 30);
    half.required_nodes = {"n2"};
    half.max_nodes = 1;
    cluster.submit(half);  // half of n2
    cluster.take(cluster.plan(), kNow);
    JobSpec first = timed(4, 10);
    first.required_nodes = {"n1"};
    first.max_nodes = 1;
    const JobKey head = cluster.submit(first);
    JobSpec second = timed(4, 10);
    second.required_nodes = {"n2"};
    second.max_nodes = 1;
    const JobKey next = cluster.submit(second);
    JobSpec last = timed(2, 90);
    last.required_nodes = {"n2"};
    last.max_nodes = 1;
    const JobKey passes = cluster.submit(last);
    const Plan plan = cluster.plan();
    EXPECT_EQ(*pending_of(plan, head)->expected_start, kNow + minutes(60));
    EXPECT_EQ(start_of(plan, passes) != nullptr, starts) << static_cast<int>(rule.kind);
    EXPECT_EQ(*pending_of(plan, next)->expected_start, kNow + minutes(starts ? 90 : 30));
  }
}

TEST(Backfill, ConservativePlansAStartForEveryJob) {
  Blocked b(kConservative);
  std::vector<JobKey> waiting;
  for (int i = 0; i < 40; ++i) waiting.push_back(b.cluster.submit(timed(8, 10)));
  const Plan plan = b.cluster.plan(kNow, {.estimates = 0});
  int place = 7;
  for (const JobKey& key : waiting)
    EXPECT_EQ(*pending_of(plan, key)->expected_start, kNow + minutes(10 * place++));
}

// Lives in which every job runs exactly as long as its time limit.
class ExactLife {
 public:
  ExactLife(std::uint64_t seed, Backfill rule, std::uint32_t nodes) : random_(seed) {
    cluster.policy.backfill = rule;
    for (std::uint32_t i = 1; i <= nodes; ++i)
      cluster.add_node("n" + std::to_string(i), nodes == 1 ? 16u : 1u + random_.upto(3));
    cpus_ = 0;
    cluster.state.nodes.for_each([&](NodeId, const Node& n) { cpus_ += n.inventory.cpus; });
  }

  void submit_some(std::uint32_t most) {
    for (std::uint32_t i = random_.upto(most); i > 0; --i) {
      JobSpec spec = timed(1 + random_.upto(cpus_ - 1), 1 + static_cast<int>(random_.upto(60)));
      cluster.submit(spec);
    }
  }

  // Ends the jobs that are over and advances to the next end; returns false if no job runs.
  bool next_end() {
    std::optional<Time> next;
    const auto end_of = [](const Job& job) { return *job.started + *job.allocation->time_limit; };
    std::vector<Job> running;
    cluster.state.jobs.for_each([&](const JobKey&, const Job& job) {
      if (job.state == JobState::running) running.push_back(job);
    });
    for (const Job& job : running) next = std::min(next.value_or(end_of(job)), end_of(job));
    if (!next) return false;
    now = *next;
    for (const Job& job : running)
      if (end_of(job) == now) cluster.end(job.key);
    return true;
  }

  // Takes plans until nothing starts any more; calls look() with each plan.
  template <class Look>
  void plan(Look&& look) {
    for (;;) {
      const Plan made = planner_.plan(cluster.state, cluster.policy, {}, now);
      const Plan fresh = cluster.plan(now);
      ASSERT_EQ(made.groups.size(), fresh.groups.size());
      look(made);
      if (made.groups.empty()) return;
      cluster.take(made, now);
    }
  }

  TestCluster cluster;
  Time now = kNow;

 private:
  Random random_;
  Planner planner_;
  std::uint32_t cpus_ = 0;
};

TEST(BackfillProperty, WithoutBackfillJobsStartInQueueOrder) {
  int starts = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    ExactLife life(seed, kNone, 1 + seed % 4);
    std::optional<JobKey> last;
    for (int step = 0; step < 40; ++step) {
      if (step < 20) life.submit_some(4);
      life.plan([&](const Plan& plan) {
        for (const PlanGroup& group : plan.groups) {
          const JobKey key = group.starts.front().key;
          // They differ only in age.
          ASSERT_TRUE(!last || *last < key) << "seed " << seed;
          last = key;
          ++starts;
        }
      });
      if (!life.next_end()) break;
    }
  }
  EXPECT_GT(starts, 1000);
}

// On one node the free CPUs determine a planned start. On several nodes the choice of nodes may
// change from pass to pass, and only the first job of the queue is certain (plan_property_test.cc).
TEST(BackfillProperty, PlannedStartIsNeverDelayed) {
  for (const Backfill rule : {kNone, kEasy, kEasy3, kConservative}) {
    int promises = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      ExactLife life(seed, rule, 1);
      std::map<JobKey, Time> promised;
      for (int step = 0; step < 60; ++step) {
        if (step < 20) life.submit_some(4);
        life.plan([&](const Plan& plan) {
          for (const PlanGroup& group : plan.groups) {
            const auto found = promised.find(group.starts.front().key);
            if (found != promised.end()) {
              ASSERT_LE(life.now, found->second) << "seed " << seed;
            }
          }
          std::uint32_t left = rule.kind == BackfillKind::conservative ? 1000 : rule.reservations;
          plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
            if (left == 0 || !info.expected_start) return;
            --left;
            const auto [found, added] = promised.try_emplace(key, *info.expected_start);
            ASSERT_LE(*info.expected_start, found->second) << "seed " << seed;
            found->second = *info.expected_start;
            promises += added;
          });
        });
        if (!life.next_end()) break;
      }
    }
    EXPECT_GT(promises, 200) << static_cast<int>(rule.kind);
  }
}

// Small jobs that would fit keep arriving; the large job at the head starts at its first planned
// start.
TEST(BackfillProperty, TheHeadOfTheQueueNeverStarves) {
  for (const Backfill rule : {kNone, kEasy, kEasy3, kConservative}) {
    TestCluster cluster;
    cluster.policy.backfill = rule;
    for (int i = 1; i <= 4; ++i) cluster.add_node("n" + std::to_string(i));
    Time now = kNow;
    for (int i = 0; i < 16; ++i) cluster.submit(timed(1, 30 + i));
    cluster.take(cluster.plan(now), now);
    JobSpec all = timed(16, 60);
    all.min_nodes = 4;
    const JobKey large = cluster.submit(all);
    std::optional<Time> told;
    bool started = false;
    for (int minute = 0; minute < 60 && !started; ++minute, now += minutes(1)) {
      cluster.submit(timed(1, 40));
      std::vector<JobKey> over;
      cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
        if (job.state == JobState::running && *job.started + *job.allocation->time_limit <= now)
          over.push_back(key);
      });
      for (const JobKey& key : over) cluster.end(key);
      const Plan plan = cluster.plan(now);
      started = start_of(plan, large) != nullptr;
      if (started) {
        EXPECT_LE(now, *told);
      } else if (!told) {
        told = pending_of(plan, large)->expected_start;
      }
      cluster.take(plan, now);
    }
    EXPECT_TRUE(started) << static_cast<int>(rule.kind);
  }
}

}  // namespace
}  // namespace ares::core::sched
