// Tests: job_classes, job_class
// Jobs with alternative GPUs: which alternative starts, which one is planned, and the reasons.
#include "core/sched/queue/alternatives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/job/checks/alternative_checks.h"
#include "core/sched/place/score_fragmentation.h"
#include "core/sched/why/explainer.h"
#include "core/sched/why/explanation.h"
#include "unit/sched/random_cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// n1 with four h100, n2 with eight a100.
TestCluster mixed() {
  TestCluster cluster;
  cluster.add_node("n1", 16, Bytes::gib(64));
  cluster.add_node("n2", 16, Bytes::gib(64));
  cluster.add_gpus("n1", "h100", 4);
  cluster.add_gpus("n2", "a100", 8);
  return cluster;
}

JobSpec either(std::uint32_t cost = kPlainCost, std::optional<Seconds> limit = hours(10)) {
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{"h100", 4}};
  spec.gpu_alternatives = {{{{"h100", 4}}, kPlainCost}, {{{"a100", 8}}, cost}};
  spec.time_limit = limit;
  return spec;
}

JobSpec gpus(const char* type, std::uint32_t count, Seconds limit) {
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{type, count}};
  spec.time_limit = limit;
  return spec;
}

void run(TestCluster& cluster, const JobSpec& spec) {
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  cluster.take(plan, kNow);
}

TEST(Alternatives, FirstIsTakenIfAllAreFree) {
  TestCluster cluster = mixed();
  const JobKey key = cluster.submit(either());
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->alternative, 0u);
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpus.size(), 4u);
}

TEST(Alternatives, AnotherOfTheSameCostStartsAtOnce) {
  TestCluster cluster = mixed();
  run(cluster, gpus("h100", 1, hours(1)));
  const JobKey key = cluster.submit(either());
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->alternative, 1u);
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpus.size(), 8u);
}

TEST(Alternatives, CostlierOneIsTakenOnlyInsteadOfALongWait) {
  for (const auto& [busy, starts] : {std::pair(hours(4), false), std::pair(hours(6), true)}) {
    TestCluster cluster = mixed();
    run(cluster, gpus("h100", 1, busy));
    const JobKey key = cluster.submit(either(1500));  // ten hours count as fifteen
    const Plan plan = cluster.plan();
    EXPECT_EQ(start_of(plan, key) != nullptr, starts);
    if (starts) continue;
    const PendingInfo* info = pending_of(plan, key);
    ASSERT_TRUE(info && info->expected_start);
    EXPECT_EQ(*info->expected_start, kNow + hours(4));
    const JobExplanation told =
        explain_job(cluster.state, cluster.policy, *cluster.state.jobs.find(key), info, kNow);
    EXPECT_FALSE(told.starts_now);
    std::vector<std::string> causes, changes;
    for (const WaitCause& cause : told.causes) causes.push_back(cause.text);
    for (const SuggestedChange& change : told.changes) changes.push_back(change.text);
    EXPECT_THAT(causes,
                Contains(AllOf(HasSubstr("could start now with a100:8"), HasSubstr("1.5"))));
    EXPECT_THAT(causes,
                Contains(AllOf(HasSubstr("with h100:4: needs"), HasSubstr("too few free GPUs"))));
    EXPECT_THAT(changes, Contains("--gpus-per-node=a100:8"));
  }
}

TEST(Alternatives, AJobWithADeadlineDoesNotWaitForACheaperOne) {
  TestCluster cluster = mixed();
  run(cluster, gpus("h100", 1, minutes(30)));
  JobSpec spec = either(1500);
  spec.deadline = kNow + hours(11);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->alternative, 1u);
}

TEST(Alternatives, ImpossibleAlternativeDoesNotBlockTheOthers) {
  TestCluster cluster = mixed();
  JobSpec spec = either();
  spec.gpus_per_node = {{"b200", 4}};
  spec.gpu_alternatives[0].gpus = spec.gpus_per_node;
  spec.gpu_alternatives[1].cost = 900'000;
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->alternative, 1u);
}

TEST(Alternatives, IfNoneIsPossibleTheReasonOfEachIsReported) {
  TestCluster cluster = mixed();
  JobSpec spec = either();
  spec.gpus_per_node = {{"h100", 5}};
  spec.gpu_alternatives = {{{{"h100", 5}}, kPlainCost}, {{{"a100", 9}}, kPlainCost}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(pending_of(plan, key));
  EXPECT_EQ(pending_of(plan, key)->reason, Reason::bad_constraints);
  EXPECT_THAT(
      pending_of(plan, key)->detail,
      AllOf(HasSubstr("5 h100 a node"), HasSubstr("; or needs"), HasSubstr("9 a100 a node")));
}

TEST(Alternatives, ReasonOfAWaitingJobNamesEachAlternative) {
  TestCluster cluster = mixed();
  run(cluster, gpus("h100", 3, hours(3)));
  run(cluster, gpus("a100", 2, hours(2)));
  const JobKey key = cluster.submit(either());
  const Plan plan = cluster.plan();
  const PendingInfo* info = pending_of(plan, key);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->reason, Reason::resources);
  EXPECT_THAT(info->detail, AllOf(HasSubstr("4 h100 a node"), HasSubstr("; or needs"),
                                  HasSubstr("8 a100 a node")));
  EXPECT_EQ(info->expected_start, kNow + hours(2)) << "the first of both";
  Explainer explainer(cluster.state, cluster.policy);
  EXPECT_EQ(explainer.explain(*cluster.state.jobs.find(key), kNow).detail, info->detail);
}

// Only the resources of the planned start are kept free; a job that would delay it does not pass.
TEST(Alternatives, OnlyThePlannedAlternativeIsKeptFree) {
  TestCluster cluster = mixed();
  run(cluster, gpus("h100", 3, hours(3)));
  run(cluster, gpus("a100", 2, hours(2)));
  const JobKey waits = cluster.submit(either());
  const JobKey long_a100 = cluster.submit(gpus("a100", 1, hours(5)));
  const JobKey short_a100 = cluster.submit(gpus("a100", 1, hours(2)));
  const JobKey long_h100 = cluster.submit(gpus("h100", 1, hours(9)));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, waits));
  EXPECT_FALSE(start_of(plan, long_a100));
  EXPECT_TRUE(start_of(plan, short_a100));
  EXPECT_TRUE(start_of(plan, long_h100));
}

TEST(Alternatives, EachTaskOfAnArrayChoosesItsOwn) {
  TestCluster cluster = mixed();
  JobSpec spec = either();
  spec.array.emplace().insert(0, 2);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  const Start* first = start_of(plan, {key.job, TaskIndex{0}});
  const Start* second = start_of(plan, {key.job, TaskIndex{1}});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->alternative, 0u);
  EXPECT_EQ(second->alternative, 1u);
  EXPECT_FALSE(start_of(plan, {key.job, TaskIndex{2}}));
}

// All nodes of a job get the same alternative, though each could have another one.
TEST(Alternatives, GpuTypesAreNeverMixed) {
  TestCluster cluster = mixed();
  cluster.add_node("n3", 16, Bytes::gib(64));
  cluster.add_gpus("n3", "a100", 8);
  JobSpec spec = either();
  spec.tasks = spec.min_nodes = spec.max_nodes = 2;
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->alternative, 1u);
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ::testing::ElementsAre("n2", "n3"));
}

TEST(Alternatives, AllAreTriedInEachOfSeveralPartitions) {
  TestCluster cluster = mixed();
  Partition other = cluster.partition();
  other.name = "h";
  other.nodes = {"n1"};
  cluster.put(other);
  Partition main = cluster.partition();
  main.nodes = {"n2"};
  cluster.put(main);
  JobSpec spec = either();
  spec.partitions = {"h", "main"};
  const JobKey one = cluster.submit(spec), two = cluster.submit(spec), three = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, one) && start_of(plan, two));
  EXPECT_EQ(start_of(plan, one)->partition, "h");
  EXPECT_EQ(start_of(plan, one)->alternative, 0u);
  EXPECT_EQ(start_of(plan, two)->partition, "main");
  EXPECT_EQ(start_of(plan, two)->alternative, 1u);
  ASSERT_TRUE(pending_of(plan, three));
  EXPECT_TRUE(pending_of(plan, three)->expected_start);
}

// The workload histogram counts running jobs with the alternative that they got.
TEST(Alternatives, WorkloadCountsTheAllocatedAlternative) {
  TestCluster cluster = mixed();
  ClusterIndex index(cluster.state);
  WorkloadHistogram kept;
  ClusterState before;
  const auto follow = [&] {
    kept.update(before, cluster.state, index);
    before = cluster.state;
    WorkloadHistogram anew;
    anew.update({}, cluster.state, index);
    EXPECT_TRUE(kept == anew);
  };
  run(cluster, gpus("h100", 1, hours(1)));
  follow();
  const JobKey key = cluster.submit(either());
  follow();
  cluster.take(cluster.plan(), kNow);
  ASSERT_EQ(cluster.state.jobs.find(key)->allocation->alternative, 1u);
  follow();
  WorkloadHistogram plain;
  TestCluster same = mixed();
  run(same, gpus("h100", 1, hours(1)));
  run(same, gpus("a100", 8, hours(1)));
  plain.update({}, same.state, index);
  EXPECT_TRUE(kept == plain);
  cluster.end(key);
  follow();
}

// Alone in the queue, a job starts or is planned with the best combination of start and cost among
// the starts that it would get if it requested each alternative alone.
TEST(AlternativesProperty, SingleJobGetsTheBestCombinationOfStartAndCost) {
  int waits = 0, starts = 0, dear = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    for (std::uint32_t i = dice.upto(12); i > 0; --i) {
      JobSpec spec = random_spec(dice);
      spec.array.reset();
      if (!spec.time_limit) spec.time_limit = minutes(45);
      cluster.submit(spec);
    }
    cluster.take(cluster.plan(), kNow);
    std::vector<JobKey> rest;
    cluster.state.pending.for_each([&](const JobKey& key, Lsn) { rest.push_back(key); });
    for (const JobKey& key : rest) {
      Job gone = *cluster.state.jobs.find(key);
      gone.state = JobState::cancelled;
      cluster.put(gone);
    }
    JobSpec spec = random_spec(dice);
    spec.array.reset();
    spec.switches_wait.reset();
    spec.gpu_alternatives.clear();
    add_alternatives(spec, dice);
    if (!spec.time_limit) spec.time_limit = minutes(60);
    std::optional<CostlyStart> best;
    for (std::size_t i = 0; i < spec.gpu_alternatives.size(); ++i) {
      TestCluster alone = cluster;
      const JobKey key = alone.submit(with_alternative(spec, i));
      const Plan plan = alone.plan();
      CostlyStart start{kNow, spec.gpu_alternatives[i].cost};
      if (!start_of(plan, key)) {
        const PendingInfo* info = pending_of(plan, key);
        ASSERT_TRUE(info) << "seed " << seed;
        if (!info->expected_start) continue;
        start.at = *info->expected_start;
      }
      if (!best || counts_less(start, *best, spec.time_limit)) best = start;
    }
    const JobKey key = cluster.submit(spec);
    const Plan plan = cluster.plan();
    const Start* started = start_of(plan, key);
    if (!best) {
      ASSERT_FALSE(started) << "seed " << seed;
      continue;
    }
    if (started) {
      // Of equal combinations the earlier start is chosen.
      const CostlyStart got{kNow, spec.gpu_alternatives[started->alternative].cost};
      ASSERT_FALSE(counts_less(*best, got, spec.time_limit)) << "seed " << seed;
      ASSERT_TRUE(matches_alternative(cluster.state, spec, started->partition, started->alternative,
                                      started->nodes));
      ++starts;
      dear += started->alternative > 0 ? 1 : 0;
    } else {
      ASSERT_EQ(pending_of(plan, key)->expected_start, best->at) << "seed " << seed;
      ++waits;
    }
  }
  EXPECT_GT(starts, 100);
  EXPECT_GT(waits, 100);
  EXPECT_GT(dear, 20);
}

// The combination of start and cost of a planned start never gets worse, though with costs the
// start itself may move. Nodes have GPUs of one type, which identifies the planned alternative.
TEST(AlternativesProperty, PlannedStartNeverBecomesWorse) {
  int promises = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    for (int i = 1; i <= 4; ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster.add_node(name, 8, Bytes::gib(8));
      cluster.add_gpus(name, i % 2 == 0 ? "a100" : "h100", 3);
    }
    for (int i = 0; i < 20; ++i) {
      JobSpec spec = TestCluster::spec(1 + dice.upto(5));
      spec.max_nodes = 1;
      spec.time_limit = minutes(1 + dice.upto(100));
      if (dice.percent(70)) {
        spec.gpu_alternatives = {{{{"h100", 1 + dice.upto(2)}}, 1000 + 100 * dice.upto(9)},
                                 {{{"a100", 1 + dice.upto(2)}}, 1000 + 100 * dice.upto(9)}};
        spec.gpus_per_node = spec.gpu_alternatives[0].gpus;
      }
      cluster.submit(spec);
    }
    Time now = kNow;
    std::map<JobKey, CostlyStart> promised;
    for (int step = 0; step < 80; ++step) {
      const Plan plan = cluster.plan(now);
      plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
        const JobSpec& spec = *cluster.state.jobs.find(key)->spec;
        if (info.reason != Reason::resources || spec.gpu_alternatives.empty()) return;
        ASSERT_TRUE(info.expected_start && info.expected_nodes.size() == 1) << "seed " << seed;
        const auto& has = cluster.state.nodes.find(info.expected_nodes[0])->inventory.gpus;
        const std::size_t which = has[0].type == "h100" ? 0 : 1;
        const CostlyStart is{*info.expected_start, spec.gpu_alternatives[which].cost};
        const auto [was, added] = promised.try_emplace(key, is);
        if (added) ++promises;
        ASSERT_FALSE(counts_less(was->second, is, spec.time_limit)) << "seed " << seed;
        was->second = is;
      });
      if (HasFatalFailure()) return;
      for (const PlanGroup& group : plan.groups)
        for (const Start& start : group.starts) {
          const auto was = promised.find(start.key);
          if (was == promised.end()) continue;
          const JobSpec& spec = *cluster.state.jobs.find(start.key)->spec;
          ASSERT_FALSE(counts_less(
              was->second, {now, spec.gpu_alternatives[start.alternative].cost}, spec.time_limit))
              << "seed " << seed;
        }
      cluster.take(plan, now);
      const auto busy = running(cluster);
      if (busy.empty()) break;
      Time next = Time::max();
      const auto end_of = [&](const JobKey& key) {
        const Job& job = *cluster.state.jobs.find(key);
        return *job.started + *job.allocation->time_limit;
      };
      for (const JobKey& key : busy) next = std::min(next, end_of(key));
      now = next;
      for (const JobKey& key : busy)
        if (end_of(key) <= now || dice.percent(10)) cluster.end(key);
    }
    ASSERT_EQ(cluster.state.pending.size(), 0u) << "seed " << seed << ": some job starves";
  }
  EXPECT_GT(promises, 300);
}

}  // namespace
}  // namespace ares::core::sched
