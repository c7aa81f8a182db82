// Tests: start_group, starter, preemption_text
// Gangs are started like single jobs: with alternative GPUs, close together in the network, by
// preemption; and they are preempted as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/sched/pass/plan_text.h"
#include "model/job/gpu_alternatives.h"
#include "unit/sched/preemption.h"

namespace ares::core::sched {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

JobSpec as_member(JobSpec spec, std::uint32_t size, const std::string& gang = "train") {
  spec.gang = GangRequest{gang, size, 0, std::nullopt};
  if (!spec.time_limit) spec.time_limit = hours(1);
  return spec;
}

std::vector<JobKey> submit_gang(TestCluster& cluster, std::uint32_t count, const JobSpec& spec) {
  std::vector<JobKey> keys;
  for (std::uint32_t i = 0; i < count; ++i) keys.push_back(cluster.submit(as_member(spec, count)));
  return keys;
}

std::vector<std::string> nodes_of(const TestCluster& cluster, const Plan& plan,
                                  const std::vector<JobKey>& keys) {
  std::vector<std::string> names;
  for (const JobKey& key : keys)
    if (const Start* start = start_of(plan, key))
      for (const std::string& name : node_names(cluster.state, *start)) names.push_back(name);
  return names;
}

TestCluster nodes(int count, std::uint32_t cpus = 4) {
  TestCluster cluster;
  for (int i = 1; i <= count; ++i) cluster.add_node("n" + std::to_string(i), cpus);
  add_tiers(cluster);
  return cluster;
}

// Runs members of a started gang in partition "main", one on each node.
std::vector<JobKey> run_gang(TestCluster& cluster, const std::vector<std::string>& on) {
  std::vector<JobKey> keys;
  const auto size = static_cast<std::uint32_t>(on.size());
  JobId number{0};
  for (const std::string& name : on) {
    const JobKey key = run(cluster, {name}, 4);
    Job job = *cluster.state.jobs.find(key);
    if (keys.empty()) number = key.job;
    job.spec = std::make_shared<const JobSpec>(as_member(*job.spec, size, "running"));
    job.gang = number;
    cluster.state.gangs.set({job.spec->uid, "running", number, key}, Lsn{});
    cluster.put(std::move(job));
    keys.push_back(key);
  }
  return keys;
}

TEST(GangGroup, MembersTakeAlternativesThatAreFreeTogether) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3"}) cluster.add_node(name, 16, Bytes::gib(64));
  cluster.add_gpus("n1", "h100", 4);
  cluster.add_gpus("n2", "a100", 8);
  TestCluster other = cluster;
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{"h100", 4}};
  spec.gpu_alternatives = {{{{"h100", 4}}, kPlainCost}, {{{"a100", 8}}, kPlainCost}};
  const auto keys = submit_gang(cluster, 2, spec);
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_THAT(nodes_of(cluster, plan, keys), UnorderedElementsAre("n1", "n2"));
  EXPECT_EQ(start_of(plan, keys[0])->alternative + start_of(plan, keys[1])->alternative, 1u);
  EXPECT_EQ(over_commitment(cluster.state, plan), "");
  // A third one has no GPUs, so none starts.
  EXPECT_TRUE(nodes_of(other, other.plan(), submit_gang(other, 3, spec)).empty());
}

TEST(GangGroup, AMemberDoesNotWaitForGpusThatAnotherMemberTakes) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2"}) cluster.add_node(name, 16, Bytes::gib(64));
  cluster.add_gpus("n1", "h100", 4);
  cluster.add_gpus("n2", "a100", 8);
  JobSpec spec = TestCluster::spec();
  spec.time_limit = hours(1);
  spec.gpus_per_node = {{"h100", 4}};
  spec.gpu_alternatives = {{{{"h100", 4}}, kPlainCost}, {{{"a100", 8}}, kPlainCost * 3 / 2}};
  const auto keys = submit_gang(cluster, 2, spec);
  EXPECT_THAT(nodes_of(cluster, cluster.plan(), keys), UnorderedElementsAre("n1", "n2"))
      << "half an hour more costs less than an hour's wait for the other member";
}

TEST(GangGroup, AnArrayHasTheReasonOfTheTaskThatWaits) {
  TestCluster cluster = nodes(6);
  cluster.policy.licenses = {{"matlab", 1}};
  JobSpec user = TestCluster::spec(1);
  user.licenses = {{"matlab", 1}};
  const JobKey running = cluster.submit(user);
  const Plan before = cluster.plan();
  ASSERT_TRUE(start_of(before, running));
  cluster.take(before, kNow);
  user.array.emplace().insert(0, 2);
  const JobKey array = cluster.submit(as_member(user, 3));
  const Plan plan = cluster.plan();
  const PendingInfo* said = pending_of(plan, array);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->reason, Reason::licenses) << said->detail;
}

TEST(GangGroup, MembersAreCloseTogetherInTheNetwork) {
  TestCluster cluster = nodes(6);
  cluster.policy.networks = std::vector{NetworkSpec{"net",
                                                    NetworkKind::tree,
                                                    {{"leaf1", {"n1", "n4"}, {}},
                                                     {"leaf2", {"n2", "n3", "n5"}, {}},
                                                     {"leaf3", {"n6"}, {}},
                                                     {"spine", {}, {"leaf1", "leaf2", "leaf3"}}}}};
  Partition main = cluster.partition();
  main.topology = "net";
  cluster.put(main);
  JobSpec spec = TestCluster::spec();
  spec.cpus_per_task = 4;
  EXPECT_THAT(nodes_of(cluster, cluster.plan(), submit_gang(cluster, 3, spec)),
              UnorderedElementsAre("n2", "n3", "n5"));
  // The nodes together do not hold them: they are placed all the same.
  TestCluster narrow = nodes(6);
  narrow.policy.networks = cluster.policy.networks;
  narrow.put(main);
  run(narrow, {"n5"}, 4);
  EXPECT_EQ(nodes_of(narrow, narrow.plan(), submit_gang(narrow, 5, spec)).size(), 5u);
}

TEST(GangGroup, PreemptsForAllMembersOrForNone) {
  TestCluster cluster = nodes(3);
  const JobKey a = run(cluster, {"n1"}, 4), b = run(cluster, {"n2"}, 3);
  const JobKey own = run(cluster, {"n3"}, 4, kNow - hours(1), "high");
  const auto keys = submit_gang(cluster, 2, high_spec(4));
  const Plan plan = cluster.plan();
  ASSERT_EQ(plan.groups.size(), 1u);
  const PlanGroup& group = plan.groups.front();
  EXPECT_TRUE(group.starts.empty());
  ASSERT_EQ(group.claims.size(), 2u);
  std::set<NodeId> claimed;
  for (const ProposedClaim& claim : group.claims) {
    EXPECT_THAT(claim.claim.victims,
                UnorderedElementsAre(AttemptKey{a, AttemptNo{1}}, AttemptKey{b, AttemptNo{1}}));
    claimed.insert(claim.claim.nodes.front().node);
  }
  EXPECT_EQ(claimed.size(), 2u);
  for (const JobKey& key : keys) EXPECT_EQ(pending_of(plan, key)->reason, Reason::preempting);
  // Three members do not fit beside the job that may not be preempted: nothing is preempted.
  TestCluster three = nodes(3);
  run(three, {"n1"}, 4);
  run(three, {"n3"}, 4, kNow - hours(1), "high");
  submit_gang(three, 3, high_spec(4));
  EXPECT_TRUE(three.plan().groups.empty());
  EXPECT_NE(own, a);
}

TEST(GangGroup, StartsAsClaimedWhenAllVictimsHaveEnded) {
  TestCluster cluster = nodes(2);
  const JobKey a = run(cluster, {"n1"}, 4), b = run(cluster, {"n2"}, 4);
  const auto keys = submit_gang(cluster, 2, high_spec(4));
  cluster.evict(cluster.plan(), kNow);
  cluster.end(a);
  const JobKey small = cluster.submit(TestCluster::spec(1));
  const Plan waiting = cluster.plan(kNow + minutes(1));
  EXPECT_TRUE(waiting.groups.empty()) << plan_text(waiting);  // its node is kept
  EXPECT_THAT(pending_of(waiting, keys[1])->detail, HasSubstr("1 of 2 has so far"));
  cluster.end(b);
  const Plan plan = cluster.plan(kNow + minutes(1));
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups.front().starts.size(), 2u);
  EXPECT_FALSE(start_of(plan, small));
}

TEST(GangGroup, ARunningGangIsPreemptedAsAWhole) {
  TestCluster cluster = nodes(3);
  const auto gang = run_gang(cluster, {"n1", "n2"});
  // The youngest single job is cheaper than the gang.
  const JobKey single = run(cluster, {"n3"}, 4, kNow - minutes(30));
  const JobKey one = cluster.submit(high_spec(4));
  EXPECT_THAT(victims_of(cluster.plan(), one), ElementsAre(single));
  TestCluster only = nodes(2);
  const auto both = run_gang(only, {"n1", "n2"});
  const JobKey other = only.submit(high_spec(4));
  EXPECT_THAT(victims_of(only.plan(), other), ElementsAre(both[0], both[1]));
}

TEST(GangGroup, ARunningGangWithAProtectedMemberIsNotPreempted) {
  TestCluster cluster = nodes(2);
  const auto gang = run_gang(cluster, {"n1", "n2"});
  cluster.policy.preemption.min_age = minutes(90);
  Job old = *cluster.state.jobs.find(gang[0]);
  old.started = kNow - hours(2);
  cluster.put(std::move(old));
  cluster.submit(high_spec(4));
  EXPECT_TRUE(cluster.plan().groups.empty());
  EXPECT_FALSE(cluster.plan(kNow + minutes(31)).groups.empty());
}

}  // namespace
}  // namespace ares::core::sched
