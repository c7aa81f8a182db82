// What users see of scheduling: who starts, where, with what, and why the others wait.
#include "core/sched/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/order.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

// Four nodes of 4 CPUs and 4000 MiB, 500 MiB a CPU by default.
TestCluster four_nodes() {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add_node(name);
  Partition main = cluster.partition();
  main.default_memory_per_cpu = Bytes::mib(500);
  cluster.put(main);
  return cluster;
}

Reason reason_of(const Plan& plan, const JobKey& key) {
  const PendingInfo* info = pending_of(plan, key);
  return info ? info->reason : Reason::none;
}

TEST(Plan, StartsAJobOnTheFirstNode) {
  TestCluster cluster = four_nodes();
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  const Start* start = start_of(plan, key);
  ASSERT_TRUE(start);
  EXPECT_THAT(node_names(cluster.state, *start), ElementsAre("n1"));
  EXPECT_EQ(start->nodes[0].cpus, 1u);
  EXPECT_EQ(start->nodes[0].memory, Bytes::mib(500));
  EXPECT_THAT(start->nodes[0].cpu_ids, ElementsAre(0u));
  EXPECT_EQ(start->nodes[0].incarnation, 7u);
  EXPECT_EQ(plan.groups[0].jobs[0].second, cluster.state.jobs.find(key)->version);
  EXPECT_TRUE(plan.pending.empty());
}

TEST(Plan, SpreadsTasksEvenlyOverTheNodesAskedFor) {
  TestCluster cluster = four_nodes();
  const JobKey key = cluster.submit(TestCluster::spec(6, 3));
  const Plan plan = cluster.plan();
  const Start* start = start_of(plan, key);
  ASSERT_TRUE(start);
  EXPECT_THAT(node_names(cluster.state, *start), ElementsAre("n1", "n2", "n3"));
  for (const NodeShare& share : start->nodes) EXPECT_EQ(share.tasks, 2u);
}

TEST(Plan, TakesAsManyNodesAsTasksNeedWhenNoNumberWasAsked) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec(9);
  spec.max_nodes = 0;
  const Plan plan = cluster.plan();
  const JobKey key = cluster.submit(spec);
  const Plan second = cluster.plan();
  ASSERT_TRUE(start_of(second, key));
  EXPECT_EQ(start_of(second, key)->nodes.size(), 3u);
  EXPECT_EQ(start_of(second, key)->nodes[0].tasks, 3u);
}

TEST(Plan, ExcludeAndNodelistAreObeyed) {
  TestCluster cluster = four_nodes();
  JobSpec without = TestCluster::spec(2, 2);
  without.excluded_nodes = {"n1"};
  JobSpec with = TestCluster::spec(2, 2);
  with.required_nodes = {"n4"};
  const JobKey a = cluster.submit(without), b = cluster.submit(with);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, a) && start_of(plan, b));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, a)), ElementsAre("n2", "n3"));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, b)), testing::Contains("n4"));
}

TEST(Plan, MemoryHoldsAJobBackThoughCpusAreFree) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.memory_per_node = Bytes::mib(3000);
  spec.required_nodes = {"n1"};
  const JobKey first = cluster.submit(spec), second = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, first));
  EXPECT_EQ(reason_of(plan, second), Reason::resources);
  EXPECT_THAT(pending_of(plan, second)->detail, HasSubstr("too little free memory"));
}

TEST(Plan, MemoryZeroIsAllOfTheNode) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.memory_per_node = Bytes(0);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_EQ(start_of(plan, key)->nodes[0].memory, Bytes::mib(4000));
}

TEST(Plan, FourJobsShareANodeAndTheFifthWaits) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.required_nodes = {"n1"};
  std::vector<JobKey> keys;
  for (int i = 0; i < 5; ++i) keys.push_back(cluster.submit(spec));
  const Plan plan = cluster.plan();
  EXPECT_EQ(plan.groups.size(), 4u);
  EXPECT_EQ(reason_of(plan, keys[4]), Reason::resources);
}

TEST(Plan, ExclusiveTakesAllCpusOfAnEmptyNode) {
  TestCluster cluster = four_nodes();
  const JobKey small = cluster.submit(TestCluster::spec());
  JobSpec spec = TestCluster::spec();
  spec.exclusive = true;
  const JobKey alone = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, small) && start_of(plan, alone));
  EXPECT_NE(start_of(plan, small)->nodes[0].node, start_of(plan, alone)->nodes[0].node);
  EXPECT_EQ(start_of(plan, alone)->nodes[0].cpus, 4u);
  EXPECT_EQ(start_of(plan, alone)->nodes[0].tasks, 1u);
}

TEST(Plan, UntypedGpusAreOfOneTypeNeverAMixture) {
  TestCluster cluster = four_nodes();
  cluster.add_gpus("n1", "a100", 1);
  cluster.add_gpus("n1", "h100", 2);
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{"", 2}};
  const JobKey two = cluster.submit(spec);
  spec.gpus_per_node = {{"", 3}};
  const JobKey three = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, two));
  EXPECT_THAT(start_of(plan, two)->nodes[0].gpus, ElementsAre(GpuIndex(1), GpuIndex(2)));
  EXPECT_EQ(reason_of(plan, three), Reason::bad_constraints);
}

TEST(Plan, GpusInTotalAreSpreadOverTheNodes) {
  TestCluster cluster = four_nodes();
  cluster.add_gpus("n3", "a100", 2);
  cluster.add_gpus("n4", "a100", 2);
  JobSpec spec = TestCluster::spec(2, 2);
  spec.gpus_total = {{"a100", 3}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n3", "n4"));
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpus.size(), 2u);
  EXPECT_EQ(start_of(plan, key)->nodes[1].gpus.size(), 1u);
}

TEST(Plan, GpusInTotalMayComeFromASmallNodeAndTasksRunOnALargeOne) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2"}) {
    cluster.add_node(name, 1);
    cluster.add_gpus(name, "a100", 1);
  }
  cluster.add_node("n3", 8);
  JobSpec spec = TestCluster::spec(4, 2);
  spec.gpus_total = {{"a100", 1}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key)) << pending_of(plan, key)->detail;
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n1", "n3"));
}

TEST(Plan, JobsWithoutGpusKeepOffGpuNodes) {
  TestCluster cluster = four_nodes();
  cluster.add_gpus("n1", "a100", 4);
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n2"));
}

TEST(Plan, GangWaitsUntilAllNodesAreFree) {
  TestCluster cluster = four_nodes();
  JobSpec one = TestCluster::spec(4);
  one.required_nodes = {"n2"};
  cluster.submit(one);
  const JobKey gang = cluster.submit(TestCluster::spec(16, 4));
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, gang));
  EXPECT_EQ(reason_of(plan, gang), Reason::resources);
}

struct ReasonCase {
  const char* name;
  std::function<void(TestCluster&, JobSpec&, Job&)> set_up;
  Reason reason;
};

class PendingReason : public testing::TestWithParam<ReasonCase> {};

TEST_P(PendingReason, IsTold) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  Job scratch;
  GetParam().set_up(cluster, spec, scratch);
  Job job = cluster.job(spec);
  job.hold = scratch.hold;
  job.waiting_for = scratch.waiting_for;
  job.dependency_failed = scratch.dependency_failed;
  job.not_before = scratch.not_before;
  const JobKey key = job.key;
  cluster.put(job);
  const Plan plan = cluster.plan();
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(reason_of(plan, key), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, PendingReason,
    testing::Values(
        ReasonCase{"held_by_user", [](auto&, auto&, Job& j) { j.hold = Hold::user; },
                   Reason::job_held_user},
        ReasonCase{"held_by_admin", [](auto&, auto&, Job& j) { j.hold = Hold::admin; },
                   Reason::job_held_admin},
        ReasonCase{"dependency", [](auto&, auto&, Job& j) { j.waiting_for.push_back({}); },
                   Reason::dependency},
        ReasonCase{"dependency_failed", [](auto&, auto&, Job& j) { j.dependency_failed = true; },
                   Reason::dependency_never_satisfied},
        ReasonCase{"begin", [](auto&, JobSpec& s, Job&) { s.begin = kNow + minutes(5); },
                   Reason::begin_time},
        ReasonCase{"back_off", [](auto&, auto&, Job& j) { j.not_before = kNow + minutes(5); },
                   Reason::begin_time},
        ReasonCase{"partition_down",
                   [](TestCluster& c, auto&, auto&) {
                     Partition p = c.partition();
                     p.up = false;
                     c.put(p);
                   },
                   Reason::partition_down},
        ReasonCase{"partition_time",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Partition p = c.partition();
                     p.max_time = minutes(10);
                     c.put(p);
                     s.time_limit = minutes(11);
                   },
                   Reason::partition_time_limit},
        ReasonCase{"no_limit_in_limited_partition",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Partition p = c.partition();
                     p.max_time = minutes(10);
                     c.put(p);
                     s.time_limit = Seconds(0);
                   },
                   Reason::partition_time_limit},
        ReasonCase{"partition_nodes",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Partition p = c.partition();
                     p.max_nodes = 1;
                     c.put(p);
                     s.min_nodes = s.max_nodes = 2;
                   },
                   Reason::partition_node_limit},
        ReasonCase{"no_such_partition", [](auto&, JobSpec& s, auto&) { s.partitions = {"gone"}; },
                   Reason::invalid_partition},
        ReasonCase{"too_many_cpus", [](auto&, JobSpec& s, auto&) { s.cpus_per_task = 5; },
                   Reason::bad_constraints},
        ReasonCase{"unknown_feature", [](auto&, JobSpec& s, auto&) { s.features = {"fast"}; },
                   Reason::bad_constraints},
        ReasonCase{"unknown_gpu",
                   [](auto&, JobSpec& s, auto&) {
                     s.gpus_per_node = {{"b200", 1}};
                   },
                   Reason::bad_constraints},
        ReasonCase{"unknown_node", [](auto&, JobSpec& s, auto&) { s.required_nodes = {"n9"}; },
                   Reason::req_node_not_avail},
        ReasonCase{"drained_node",
                   [](TestCluster& c, JobSpec& s, auto&) {
                     Node node = c.node("n1");
                     node.admin = AdminState::drain;
                     c.put(node);
                     s.required_nodes = {"n1"};
                   },
                   Reason::req_node_not_avail},
        ReasonCase{"all_lost",
                   [](TestCluster& c, auto&, auto&) {
                     for (const char* name : {"n1", "n2", "n3", "n4"}) {
                       Node node = c.node(name);
                       node.contact = Contact::lost;
                       c.put(node);
                     }
                   },
                   Reason::req_node_not_avail}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Plan, WakesWhenTheBeginTimeComes) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.begin = kNow + minutes(7);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_EQ(plan.wake, kNow + minutes(7));
  EXPECT_EQ(pending_of(plan, key)->expected_start, kNow + minutes(7));
  EXPECT_TRUE(start_of(cluster.plan(kNow + minutes(7)), key));
}

TEST(Plan, PriorityThenNiceThenAgeDecideTheOrder) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  const auto add = [&](std::uint32_t priority, std::int32_t nice, int age) {
    JobSpec spec = TestCluster::spec();
    spec.nice = nice;
    Job job = cluster.job(spec);
    job.priority = priority;
    job.eligible = kNow - minutes(age);
    cluster.put(job);
    return job.key;
  };
  const JobKey fourth = add(1, 5, 60), third = add(1, 0, 10), second = add(1, 0, 30),
               first = add(9, 100, 1);
  const auto rest_starts = [&](const JobKey& key) {
    const bool starts = start_of(cluster.plan(), key) != nullptr;
    Job job = *cluster.state.jobs.find(key);
    job.hold = Hold::user;
    cluster.put(job);
    return starts;
  };
  EXPECT_TRUE(rest_starts(first));
  EXPECT_TRUE(rest_starts(second));
  EXPECT_TRUE(rest_starts(third));
  EXPECT_TRUE(rest_starts(fourth));
}

TEST(Plan, HigherTierComesFirstAndAJobStartsInOnePartitionOnly) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  Partition high = cluster.partition();
  high.name = "high";
  high.tier = 2;
  cluster.put(high);
  const JobKey low = cluster.submit(TestCluster::spec());
  JobSpec spec = TestCluster::spec();
  spec.partitions = {"main", "high"};
  const JobKey both = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  ASSERT_TRUE(start_of(plan, both));
  EXPECT_EQ(start_of(plan, both)->partition, "high");
  EXPECT_EQ(reason_of(plan, low), Reason::resources);
}

TEST(Plan, ArrayStartsSeveralTasksUpToItsThrottle) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.array.emplace().insert(1, 10);
  spec.array_throttle = 3;
  Job job = cluster.job(spec);
  job.array->holding = 1;
  cluster.put(job);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[0].starts[0].key.task.value, 1u);
  EXPECT_EQ(plan.groups[1].starts[0].key.task.value, 2u);
  EXPECT_EQ(reason_of(plan, job.key), Reason::job_array_task_limit);
}

TEST(Plan, ARequeuedTaskCountsAgainstItsArraysThrottle) {
  TestCluster cluster = four_nodes();
  JobSpec spec = TestCluster::spec();
  spec.array.emplace().insert(1, 3);
  spec.array_throttle = 1;
  Job array = cluster.job(spec);
  array.array->waiting.clear();
  array.array->holding = 1;
  cluster.put(array);
  Job task = cluster.job(TestCluster::spec());
  task.key = {array.key.job, TaskIndex{2}};
  cluster.put(task);
  EXPECT_EQ(reason_of(cluster.plan(), task.key), Reason::job_array_task_limit);
}

TEST(Plan, ANodeThatFailedToLaunchIsAvoidedUnlessItIsTheOnlyOne) {
  TestCluster cluster = four_nodes();
  Job job = cluster.job(TestCluster::spec());
  job.excluded = {cluster.node("n1").id};
  cluster.put(job);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, job.key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, job.key)), ElementsAre("n2"));
  JobSpec spec = TestCluster::spec();
  spec.required_nodes = {"n1"};
  Job pinned = cluster.job(spec);
  pinned.excluded = {cluster.node("n1").id};
  cluster.put(pinned);
  EXPECT_TRUE(start_of(cluster.plan(), pinned.key));
}

TEST(Plan, AShortJobGoesFirstAndALongOneDoesNot) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  JobSpec running = TestCluster::spec(3);
  running.time_limit = minutes(60);
  cluster.submit(running);
  cluster.take(cluster.plan(), kNow);

  JobSpec head = TestCluster::spec(4);
  head.time_limit = minutes(60);
  const JobKey blocked = cluster.submit(head);
  JobSpec filler = TestCluster::spec();
  filler.time_limit = minutes(61);
  const JobKey too_long = cluster.submit(filler);
  filler.time_limit = Seconds(0);
  const JobKey endless = cluster.submit(filler);
  filler.time_limit = minutes(60);
  const JobKey short_enough = cluster.submit(filler);

  const Plan plan = cluster.plan();
  EXPECT_EQ(reason_of(plan, blocked), Reason::resources);
  EXPECT_EQ(pending_of(plan, blocked)->expected_start, kNow + minutes(60));
  EXPECT_EQ(reason_of(plan, too_long), Reason::priority);
  EXPECT_EQ(reason_of(plan, endless), Reason::priority);
  EXPECT_TRUE(start_of(plan, short_enough));
  EXPECT_EQ(Ahead(cluster.state, cluster.policy, kNow).of(*cluster.state.jobs.find(too_long)), 1u);
}

TEST(Plan, OnlyWhatTheBlockedJobNeedsIsKeptForIt) {
  TestCluster cluster = four_nodes();
  JobSpec running = TestCluster::spec(2);
  running.time_limit = minutes(60);
  running.required_nodes = {"n1"};
  cluster.submit(running);
  cluster.take(cluster.plan(), kNow);

  JobSpec head = TestCluster::spec(3);  // n1 will have four CPUs then: one is left over
  head.required_nodes = {"n1"};
  const JobKey blocked = cluster.submit(head);
  JobSpec filler = TestCluster::spec();
  filler.required_nodes = {"n1"};
  const JobKey fits_beside = cluster.submit(filler), does_not = cluster.submit(filler);
  const Plan plan = cluster.plan();
  EXPECT_EQ(reason_of(plan, blocked), Reason::resources);
  EXPECT_TRUE(start_of(plan, fits_beside));
  EXPECT_FALSE(start_of(plan, does_not));
}

TEST(Plan, AJobWaitingForEndlessOnesIsNotOvertakenByEndlessOnes) {
  TestCluster cluster;
  cluster.add_node("n1", 4);
  cluster.submit(TestCluster::spec(3));
  cluster.take(cluster.plan(), kNow);
  const JobKey whole = cluster.submit(TestCluster::spec(4));
  const JobKey small = cluster.submit(TestCluster::spec(1));
  JobSpec limited = TestCluster::spec();
  limited.time_limit = minutes(10);
  const JobKey limited_small = cluster.submit(limited);
  const Plan plan = cluster.plan();
  EXPECT_EQ(reason_of(plan, whole), Reason::resources);
  EXPECT_FALSE(pending_of(plan, whole)->expected_start);
  EXPECT_EQ(reason_of(plan, small), Reason::priority);
  EXPECT_TRUE(start_of(plan, limited_small));
}

TEST(Plan, BlockedJobsOfOtherPartitionsArePromisedTheirStartToo) {
  TestCluster cluster;
  cluster.add_node("n1", 1);
  Partition other = cluster.partition();
  cluster.add_node("n2", 1);
  Partition main = cluster.partition();
  main.nodes = {"n1"};
  cluster.put(main);
  other.name = "other";
  other.nodes = {"n2"};
  cluster.put(other);
  JobSpec a = TestCluster::spec(), b = TestCluster::spec();
  a.time_limit = b.time_limit = minutes(10);
  b.partitions = {"other"};
  cluster.submit(a);
  cluster.submit(b);
  cluster.take(cluster.plan(), kNow);
  const JobKey wait_a = cluster.submit(a), wait_b = cluster.submit(b);
  const Plan plan = cluster.plan();
  for (const JobKey& key : {wait_a, wait_b}) {
    EXPECT_EQ(reason_of(plan, key), Reason::resources);
    EXPECT_EQ(pending_of(plan, key)->expected_start, kNow + minutes(10));
  }
}

TEST(Plan, ASpentBudgetStartsNothingMoreAndSaysSo) {
  TestCluster cluster = four_nodes();
  JobKey last;
  for (int i = 0; i < 8; ++i) {
    JobSpec spec = TestCluster::spec();
    spec.nice = i;
    last = cluster.submit(spec);
  }
  const Plan plan = cluster.plan(kNow, Budget{12});
  EXPECT_EQ(plan.groups.size(), 3u);
  ASSERT_EQ(plan.pending.size(), 5u);
  EXPECT_THAT(pending_of(plan, last)->detail, HasSubstr("budget"));
}

}  // namespace
}  // namespace ares::core::sched
