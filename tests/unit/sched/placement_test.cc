// Tests: fit_nodes
// Placement of jobs that request features, certain numbers of nodes, or licences, and their time
// limits there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/sched/index/demand.h"
#include "core/sched/pass/plan.h"
#include "core/sched/place/fit.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

void give_features(TestCluster& cluster, const std::string& name,
                   std::vector<std::string> features) {
  Node node = cluster.node(name);
  node.inventory.features = std::move(features);
  cluster.put(node);
}

// Two racks of three nodes with 4 CPUs each; the last node of each has a large disk.
TestCluster racks() {
  TestCluster cluster;
  for (int i = 1; i <= 6; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name);
    give_features(cluster, name, {i <= 3 ? "r1" : "r2"});
  }
  give_features(cluster, "n3", {"r1", "disk"});
  give_features(cluster, "n6", {"r2", "disk"});
  return cluster;
}

JobSpec with(std::string constraint, std::uint32_t nodes) {
  JobSpec spec = TestCluster::spec(nodes, nodes);
  spec.features = {std::move(constraint)};
  return spec;
}

std::vector<std::string> nodes_of(const TestCluster& cluster, const JobSpec& spec) {
  TestCluster copy = cluster;
  const JobKey key = copy.submit(spec);
  const Plan plan = copy.plan();
  const Start* start = start_of(plan, key);
  return start ? node_names(copy.state, *start) : std::vector<std::string>{};
}

void fill(TestCluster& cluster, const std::string& name) {
  JobSpec spec = TestCluster::spec(4);
  spec.required_nodes = {name};
  spec.time_limit = minutes(60);
  cluster.submit(spec);
  cluster.take(cluster.plan(), kNow);
}

// An older release accepted these jobs. They caused a division by zero, or returned memory to a
// node.
TEST(StoredJobs, WithZeroNegativeOrWrappedMemoryAffectNoOtherJob) {
  struct Case {
    const char* name;
    std::int64_t memory;
    std::uint32_t per_node, per_task;
    bool starts;
  };
  const std::int64_t quarter = std::int64_t{1} << 62;
  const Case cases[] = {
      {"none for each task's GPUs", 0, 0, 4, true},
      {"none for each node's GPUs", 0, 4, 0, true},
      {"wraps round to none", quarter, 0, 4, false},
      {"wraps round to less than none", quarter - (std::int64_t{25} << 30), 4, 0, false},
      {"negative, for each task's GPUs", -(std::int64_t{1} << 30), 0, 4, true},
      {"negative, for each node's GPUs", -(std::int64_t{1} << 30), 4, 0, true},
  };
  for (const Case& bad : cases) {
    SCOPED_TRACE(bad.name);
    TestCluster cluster;
    cluster.add_node("n1");
    cluster.add_gpus("n1", "a100", 4);
    JobSpec spec = TestCluster::spec();
    spec.memory_per_gpu = Bytes(bad.memory);
    if (bad.per_node > 0) spec.gpus_per_node = {{"", bad.per_node}};
    if (bad.per_task > 0) spec.gpus_per_task = {{"", bad.per_task}};
    const JobKey key = cluster.submit(spec);
    const JobKey after = cluster.submit(TestCluster::spec());
    const Plan plan = cluster.plan();
    EXPECT_EQ(start_of(plan, key) != nullptr, bad.starts);
    EXPECT_TRUE(start_of(plan, after));
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts)
        for (const NodeShare& share : start.nodes) EXPECT_GE(share.memory, Bytes{});
    EXPECT_EQ(over_commitment(cluster.state, plan), "");
  }
}

TEST(StoredJobs, WithNegativeMemoryPerNodeAreChargedNothing) {
  TestCluster cluster;
  cluster.add_node("n1");
  JobSpec spec = TestCluster::spec();
  spec.memory_per_node = Bytes::gib(-100);
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  const Start* start = start_of(plan, key);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->nodes.front().memory, Bytes{});
}

TEST(Demand, ProductsOfCountsDoNotOverflow) {
  TestCluster cluster;
  cluster.add_node("n1");
  cluster.add_gpus("n1", "a100", 2);
  ClusterIndex index(cluster.state);
  JobSpec spec = TestCluster::spec();
  spec.cpus_per_gpu = 1u << 31;
  spec.gpus_per_task = {{"", 2}};
  EXPECT_EQ(make_demand(spec, cluster.partition(), index).cpus_per_task, 0xffff'ffffu);
  spec = TestCluster::spec(0xffff'ffff);
  spec.tasks_per_node = 2;
  EXPECT_EQ(make_demand(spec, cluster.partition(), index).min_nodes, 1u << 31);
  spec = TestCluster::spec(1, 4);
  spec.tasks_per_node = 1u << 30;
  EXPECT_EQ(make_demand(spec, cluster.partition(), index).tasks, 0xffff'ffffu);
}

// A job that uses one thread of each core is charged for whole cores: CPUs that it asks for are those
// that it may use, and memory for each CPU is for those.
TEST(Placement, JobThatUsesOneThreadOfACoreTakesWholeCores) {
  TestCluster cluster;
  cluster.add_node("n1", 16, Bytes::mib(8000));
  Node node = cluster.node("n1");
  node.inventory.cpu_layout = SharedText("0.0:0-7/8-15");
  cluster.put(node);
  JobSpec spec = TestCluster::spec(1, 1);
  spec.cpus_per_task = 3;
  spec.memory_per_cpu = Bytes::mib(1000);
  spec.binding.edit().hint = "nomultithread";
  const JobKey first = cluster.submit(spec);
  JobSpec with_threads = spec;
  with_threads.cpus_per_task = 6;
  with_threads.binding.edit().hint = "multithread";
  with_threads.memory_per_cpu = Bytes::mib(500);
  const JobKey threads = cluster.submit(with_threads);
  spec.memory_per_cpu = Bytes::mib(1);
  const JobKey larger = cluster.submit(spec);  // three cores, of which two are left
  const Plan plan = cluster.plan();
  ASSERT_NE(start_of(plan, first), nullptr);
  const NodeShare& share = start_of(plan, first)->nodes.front();
  EXPECT_EQ(share.cpus, 6u);
  EXPECT_EQ(share.memory, Bytes::mib(3000));
  EXPECT_THAT(share.cpu_ids, testing::ElementsAre(0, 1, 2, 8, 9, 10));
  EXPECT_EQ(start_of(plan, larger), nullptr);
  ASSERT_NE(start_of(plan, threads), nullptr);
  EXPECT_EQ(start_of(plan, threads)->nodes.front().cpus, 6u);
}

// Regression: CPUs were numbered from 0, whichever the node had.
TEST(Placement, CpusThatTheLayoutLacksAreSetAside) {
  for (const auto& [layout, ids] : std::map<std::string, std::vector<std::uint32_t>>{
           {"0.0:2-3/6-7;0.0:8,9", {2, 3, 6, 7, 8}},  // 0, 1, 4 and 5 are set aside
           {"0.0:1-2", {0, 1, 2, 3, 4}}}) {           // it has fewer than the node offers
    TestCluster cluster;
    cluster.add_node("n1", 6, Bytes::mib(8000));
    Node node = cluster.node("n1");
    node.inventory.cpu_layout = SharedText(layout);
    cluster.put(node);
    const JobKey job = cluster.submit(TestCluster::spec(5, 1));
    const JobKey next = cluster.submit(TestCluster::spec(1, 1));
    const Plan plan = cluster.plan();
    ASSERT_NE(start_of(plan, job), nullptr) << layout;
    EXPECT_EQ(start_of(plan, job)->nodes.front().cpu_ids, ids) << layout;
    ASSERT_NE(start_of(plan, next), nullptr) << layout;
    EXPECT_EQ(start_of(plan, next)->nodes.front().cpu_ids, std::vector{ids.back() == 8 ? 9u : 5u});
  }
}

TEST(TaskCapacity, MemoryOfZeroIsNoRule) {
  const Amounts room{4, 1000};
  for (const MemoryRule rule : {MemoryRule::per_node, MemoryRule::per_cpu, MemoryRule::per_task})
    for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{-1} << 40}) {
      Demand demand;
      demand.memory_rule = rule;
      demand.memory = Bytes(memory);
      const NodeOffer all{0, room, room};
      EXPECT_EQ(task_capacity(demand, Amounts{0, 0}, all), 4u);
      const auto placement = fit(demand, std::span(&all, 1));
      ASSERT_TRUE(placement);
      EXPECT_EQ(placement->front().amounts[kMemory], 0);
    }
}

TEST(Features, RestrictTheNodesOfAJob) {
  const TestCluster cluster = racks();
  EXPECT_THAT(nodes_of(cluster, with("r2", 1)), ElementsAre("n4"));
  EXPECT_THAT(nodes_of(cluster, with("r2&disk", 1)), ElementsAre("n6"));
  EXPECT_THAT(nodes_of(cluster, with("(r1&disk)|r2", 4)), ElementsAre("n3", "n4", "n5", "n6"));
  EXPECT_THAT(nodes_of(cluster, with("r3", 1)), ElementsAre());
}

TEST(Features, InBracketsAreTheSameOnAllNodes) {
  TestCluster cluster = racks();
  EXPECT_THAT(nodes_of(cluster, with("[r1|r2]", 3)), ElementsAre("n1", "n2", "n3"));
  fill(cluster, "n2");
  EXPECT_THAT(nodes_of(cluster, with("[r1|r2]", 3)), ElementsAre("n4", "n5", "n6"));
  fill(cluster, "n5");
  EXPECT_THAT(nodes_of(cluster, with("[r1|r2]", 3)), ElementsAre())
      << "four are free, in two racks";
  EXPECT_THAT(nodes_of(cluster, with("r1|r2", 3)), ElementsAre("n1", "n3", "n4"));
  JobSpec named = with("[r1|r2]", 2);
  named.required_nodes = {"n6"};
  EXPECT_THAT(nodes_of(cluster, named), ElementsAre("n4", "n6"));
}

TEST(Features, InBracketsForOneNodeAllowAnyOfThem) {
  TestCluster cluster = racks();
  for (const char* name : {"n1", "n2", "n3"}) fill(cluster, name);
  EXPECT_THAT(nodes_of(cluster, with("[r1|r2]", 1)), ElementsAre("n4"));
}

TEST(Features, WithCountsNeedThatManyNodes) {
  const TestCluster cluster = racks();
  EXPECT_THAT(nodes_of(cluster, with("r1*1&r2*3", 4)), ElementsAre("n1", "n4", "n5", "n6"));
  EXPECT_THAT(nodes_of(cluster, with("disk*2", 3)), ElementsAre("n1", "n3", "n6"));
  EXPECT_THAT(nodes_of(cluster, with("disk*2&r1*2&r2*2", 4)), ElementsAre("n1", "n3", "n4", "n6"))
      << "a node with two of them counts for both";
  EXPECT_THAT(nodes_of(cluster, with("disk*3", 4)), ElementsAre());
}

TEST(Features, GetAPlannedStartWhileTheyAreBusy) {
  TestCluster cluster = racks();
  fill(cluster, "n6");
  const JobKey key = cluster.submit(with("disk*2", 2));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(pending_of(plan, key));
  EXPECT_EQ(pending_of(plan, key)->reason, Reason::resources);
  EXPECT_EQ(pending_of(plan, key)->expected_start, kNow + minutes(60));
}

TEST(Features, OfANodeMayChangeBetweenPasses) {
  TestCluster cluster = racks();
  const JobKey key = cluster.submit(with("[gold|silver]", 2));
  Planner planner;
  const auto pass = [&] { return planner.plan(cluster.state, cluster.policy, Budget{}, kNow); };
  EXPECT_FALSE(start_of(pass(), key));
  for (const char* name : {"n2", "n5"}) give_features(cluster, name, {"silver"});
  const Plan plan = pass();
  ASSERT_TRUE(start_of(plan, key));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, key)), ElementsAre("n2", "n5"));
}

JobSpec sized(std::initializer_list<std::uint32_t> counts) {
  JobSpec spec = TestCluster::spec(*counts.begin(), *counts.begin());
  spec.node_counts.emplace();
  for (const std::uint32_t n : counts) spec.node_counts->insert(n);
  spec.max_nodes = spec.node_counts->back();
  return spec;
}

TEST(NodeCounts, TheLargestThatFitsIsChosen) {
  TestCluster cluster = racks();
  EXPECT_EQ(nodes_of(cluster, sized({2, 4, 8})).size(), 4u);
  EXPECT_EQ(nodes_of(cluster, sized({1, 5})).size(), 5u);
  fill(cluster, "n1");
  fill(cluster, "n2");
  fill(cluster, "n3");
  EXPECT_EQ(nodes_of(cluster, sized({2, 4, 8})).size(), 2u);
  JobSpec few_tasks = sized({2, 3, 6});
  few_tasks.tasks = 3;
  EXPECT_EQ(nodes_of(cluster, few_tasks).size(), 3u) << "not more nodes than tasks";
  EXPECT_THAT(nodes_of(cluster, sized({7, 9})), ElementsAre());
}

TEST(TimeLimit, IsShortenedToTheDeadline) {
  TestCluster cluster = racks();
  JobSpec spec = TestCluster::spec();
  spec.deadline = kNow + minutes(10);
  const JobKey open = cluster.submit(spec);
  spec.time_limit = minutes(120);
  spec.time_min = minutes(5);
  const JobKey cut = cluster.submit(spec);
  spec.time_limit = minutes(7);
  const JobKey whole = cluster.submit(spec);
  spec.time_min.reset();
  spec.time_limit = minutes(11);
  const JobKey never = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, open) && start_of(plan, cut) && start_of(plan, whole));
  EXPECT_EQ(start_of(plan, open)->time_limit, minutes(10));
  EXPECT_EQ(start_of(plan, cut)->time_limit, minutes(10));
  EXPECT_EQ(start_of(plan, whole)->time_limit, minutes(7));
  EXPECT_FALSE(start_of(plan, never));
  EXPECT_EQ(pending_of(plan, never)->reason, Reason::deadline);
}

// One node; a job of the whole node has a planned start in one hour.
TEST(TimeLimit, IsLoweredToItsMinimumToEndBeforeAPlannedStart) {
  TestCluster cluster;
  cluster.add_node("n1");
  JobSpec half = TestCluster::spec(2);
  half.time_limit = minutes(60);
  cluster.submit(half);
  cluster.take(cluster.plan(), kNow);
  JobSpec all = TestCluster::spec(4);
  all.time_limit = minutes(60);
  const JobKey promised = cluster.submit(all);
  JobSpec spec = TestCluster::spec();
  spec.time_limit = minutes(240);
  const JobKey stubborn = cluster.submit(spec);
  spec.time_min = minutes(10);
  const JobKey modest = cluster.submit(spec);
  spec.time_min = minutes(90);
  const JobKey demanding = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, promised)->expected_start, kNow + minutes(60));
  EXPECT_FALSE(start_of(plan, stubborn));
  EXPECT_FALSE(start_of(plan, demanding));
  ASSERT_TRUE(start_of(plan, modest));
  EXPECT_EQ(start_of(plan, modest)->time_limit, minutes(60))
      << "as much as the planned start leaves";
}

// Two nodes of 8 CPUs, 8000 MiB and 4 GPUs, with different GPU types.
TestCluster gpu_nodes() {
  TestCluster cluster;
  cluster.add_node("n1", 8, Bytes::mib(8000));
  cluster.add_node("n2", 8, Bytes::mib(8000));
  cluster.add_gpus("n1", "a100", 4);
  cluster.add_gpus("n2", "h100", 4);
  return cluster;
}

TEST(PerGpu, CpusAndMemoryFollowTheGpusOfANode) {
  TestCluster cluster = gpu_nodes();
  JobSpec spec = TestCluster::spec();
  spec.gpus_total = {{"", 2}};
  spec.cpus_per_gpu = 2;
  spec.memory_per_gpu = Bytes::mib(1500);
  const JobKey total = cluster.submit(spec);
  spec.gpus_total.clear();
  spec.gpus_per_node = {{"h100", 3}};
  const JobKey per_node = cluster.submit(spec);
  const JobKey waits = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, total) && start_of(plan, per_node));
  EXPECT_EQ(start_of(plan, total)->nodes[0].cpus, 4u);
  EXPECT_EQ(start_of(plan, total)->nodes[0].memory, Bytes::mib(3000));
  EXPECT_EQ(start_of(plan, total)->nodes[0].gpus.size(), 2u);
  EXPECT_EQ(start_of(plan, per_node)->nodes[0].cpus, 6u);
  EXPECT_EQ(start_of(plan, per_node)->nodes[0].memory, Bytes::mib(4500));
  EXPECT_FALSE(start_of(plan, waits));
}

TEST(PerGpu, TasksTakeTheirGpusWithThem) {
  TestCluster cluster = gpu_nodes();
  JobSpec spec = TestCluster::spec(3);
  spec.gpus_per_task = {{"", 1}};
  spec.cpus_per_gpu = 2;
  spec.memory_per_gpu = Bytes::mib(2000);
  const JobKey three = cluster.submit(spec), one_left = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, three));
  const NodeShare& share = start_of(plan, three)->nodes[0];
  EXPECT_EQ(share.tasks, 3u);
  EXPECT_EQ(share.gpus.size(), 3u);
  EXPECT_EQ(share.cpus, 6u);
  EXPECT_EQ(share.memory, Bytes::mib(6000));
  ASSERT_TRUE(start_of(plan, one_left)) << "on the other node";
  EXPECT_NE(start_of(plan, one_left)->nodes[0].node, share.node);

  TestCluster same_type;
  for (const char* name : {"n1", "n2"}) {
    same_type.add_node(name, 8);
    same_type.add_gpus(name, "a100", 2);
  }
  JobSpec spread = TestCluster::spec(3, 2);
  spread.gpus_per_task = {{"", 1}};
  const JobKey over_two = same_type.submit(spread);
  spread.tasks = 5;
  const JobKey never = same_type.submit(spread);
  const Plan second = same_type.plan();
  ASSERT_TRUE(start_of(second, over_two));
  EXPECT_EQ(start_of(second, over_two)->nodes[0].gpus.size(), 2u);
  EXPECT_EQ(start_of(second, over_two)->nodes[1].gpus.size(), 1u);
  EXPECT_EQ(pending_of(second, never)->reason, Reason::bad_constraints);
}

JobSpec of_user(std::uint32_t uid, const std::string& node, bool alone = false) {
  JobSpec spec = TestCluster::spec();
  spec.uid = UserId(uid);
  spec.exclusive_user = alone;
  spec.time_limit = minutes(60);
  if (!node.empty()) spec.required_nodes = {node};
  return spec;
}

TEST(ExclusiveUser, KeepsOtherUsersOffTheNode) {
  TestCluster cluster = racks();
  const JobKey mine = cluster.submit(of_user(1, "n1", true)),
               other = cluster.submit(of_user(2, "n1")), elsewhere = cluster.submit(of_user(2, ""));
  const Plan first = cluster.plan();
  EXPECT_TRUE(start_of(first, mine));
  EXPECT_FALSE(start_of(first, other));
  ASSERT_TRUE(start_of(first, elsewhere));
  EXPECT_THAT(node_names(cluster.state, *start_of(first, elsewhere)), ElementsAre("n2"));
  cluster.take(first, kNow);

  const JobKey own = cluster.submit(of_user(1, "n1"));
  const Plan second = cluster.plan();
  EXPECT_TRUE(start_of(second, own)) << "the same user's jobs share it";
  EXPECT_FALSE(start_of(second, other));
  EXPECT_EQ(pending_of(second, other)->reason, Reason::resources);
  EXPECT_THAT(pending_of(second, other)->detail, HasSubstr("not to be shared"));
  EXPECT_EQ(pending_of(second, other)->expected_start, kNow + minutes(60));
  cluster.end(mine);
  EXPECT_TRUE(start_of(cluster.plan(), other));
}

TEST(ExclusiveUser, WaitsUntilJobsOfOtherUsersHaveEnded) {
  TestCluster cluster = racks();
  const JobKey other = cluster.submit(of_user(2, "n1"));
  cluster.submit(of_user(1, "n1"));
  cluster.take(cluster.plan(), kNow);
  const JobKey alone = cluster.submit(of_user(1, "n1", true));
  const Plan plan = cluster.plan();
  ASSERT_TRUE(pending_of(plan, alone));
  EXPECT_EQ(pending_of(plan, alone)->expected_start, kNow + minutes(60));
  JobSpec long_job = of_user(3, "n1");
  long_job.time_limit = minutes(61);
  const JobKey late = cluster.submit(long_job);
  EXPECT_FALSE(start_of(cluster.plan(), late)) << "it would delay the planned start";
  cluster.end(other);
  EXPECT_TRUE(start_of(cluster.plan(), alone)) << "its own user's job may stay";
}

// A planner with kept state must plan the same as a new one, also when the first node becomes
// exclusive to a user.
TEST(ExclusiveUser, IsNoticedByAPlannerThatIgnoredUsersBefore) {
  TestCluster cluster = racks();
  Planner planner;
  const auto pass = [&] { return planner.plan(cluster.state, cluster.policy, Budget{}, kNow); };
  cluster.submit(of_user(2, "n1"));
  cluster.take(pass(), kNow);
  cluster.submit(of_user(1, "n2", true));
  cluster.take(pass(), kNow);
  const JobKey own = cluster.submit(of_user(1, "n2")), other = cluster.submit(of_user(2, "n2"));
  const Plan plan = pass();
  EXPECT_TRUE(start_of(plan, own));
  EXPECT_FALSE(start_of(plan, other));
}

JobSpec licensed(std::vector<LicenseRequest> licenses, bool any = false) {
  JobSpec spec = TestCluster::spec();
  spec.licenses = std::move(licenses);
  spec.any_license = any;
  return spec;
}

TEST(Licenses, LimitTheNumberOfRunningJobs) {
  TestCluster cluster = racks();
  cluster.policy.licenses = {{"matlab", 3}, {"ansys", 1}};
  const JobKey two = cluster.submit(licensed({{"matlab", 2}})),
               too_many = cluster.submit(licensed({{"matlab", 2}})),
               both = cluster.submit(licensed({{"matlab", 1}, {"ansys", 1}})),
               none = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  EXPECT_TRUE(start_of(plan, two));
  EXPECT_TRUE(start_of(plan, both));
  EXPECT_TRUE(start_of(plan, none));
  ASSERT_TRUE(pending_of(plan, too_many));
  EXPECT_EQ(pending_of(plan, too_many)->reason, Reason::licenses);
  EXPECT_THAT(pending_of(plan, too_many)->detail, HasSubstr("needs 2 matlab: 1 of 3 free"));

  cluster.take(plan, kNow);
  EXPECT_FALSE(start_of(cluster.plan(), too_many));
  cluster.end(both);
  EXPECT_FALSE(start_of(cluster.plan(), too_many)) << "one of three is free";
  cluster.end(two);
  EXPECT_TRUE(start_of(cluster.plan(), too_many));
}

TEST(Licenses, OneOfSeveralIsEnoughIfRequested) {
  TestCluster cluster = racks();
  cluster.policy.licenses = {{"matlab", 1}, {"octave", 1}};
  const JobSpec either = licensed({{"matlab", 1}, {"octave", 1}}, true);
  const JobKey first = cluster.submit(either), second = cluster.submit(either),
               third = cluster.submit(either);
  const Plan plan = cluster.plan();
  ASSERT_TRUE(start_of(plan, first) && start_of(plan, second));
  EXPECT_EQ(start_of(plan, first)->licenses[0].name, "matlab");
  EXPECT_EQ(start_of(plan, second)->licenses[0].name, "octave");
  EXPECT_THAT(pending_of(plan, third)->detail, HasSubstr("1 octave: 0 of 1 free"));
  cluster.take(plan, kNow);
  cluster.end(second);
  EXPECT_EQ(start_of(cluster.plan(), third)->licenses[0].name, "octave");
}

TEST(Licenses, LimitTheTasksOfAnArray) {
  TestCluster cluster = racks();
  cluster.policy.licenses = {{"matlab", 2}};
  JobSpec spec = licensed({{"matlab", 1}});
  spec.array.emplace().insert(0, 9);
  const JobKey array = cluster.submit(spec);
  const Plan plan = cluster.plan();
  EXPECT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(pending_of(plan, array)->reason, Reason::licenses);
}

}  // namespace
}  // namespace ares::core::sched
