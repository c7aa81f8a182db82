// When a job that is not submitted yet would start.
#include "core/sched/why/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sched/cluster.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Principal kWho{UserId{1000}, GroupId{1000}, "alice", "login"};

class Estimate : public testing::Test {
 protected:
  Estimate() {
    cluster.add_node("n1");
    cluster.add_node("n2");
  }
  Result<StartEstimate> ask(JobSpec spec) {
    spec.uid = kWho.uid;
    spec.user = kWho.user;
    return estimate_start(cluster.state, cluster.policy, kWho,
                          Submit{std::make_shared<const JobSpec>(std::move(spec)), {}}, kNow);
  }
  void run(std::uint32_t tasks, const std::string& node, minutes limit) {
    JobSpec spec = TestCluster::spec(tasks);
    spec.required_nodes = {node};
    spec.time_limit = limit;
    cluster.submit(spec);
    cluster.take(cluster.plan(), kNow);
  }
  TestCluster cluster;
};

TEST_F(Estimate, StartsAtOnceWithNodes) {
  const ClusterState before = cluster.state;
  const auto e = ask(TestCluster::spec(6, 2));
  ASSERT_TRUE(e) << e.error().message;
  EXPECT_EQ(e->start, kNow);
  EXPECT_FALSE(e->at_the_earliest);
  EXPECT_THAT(e->nodes, ElementsAre("n1", "n2"));
  EXPECT_EQ(e->cpus, 6u);
  EXPECT_EQ(e->partition, "main");
  EXPECT_TRUE(before == cluster.state) << "nothing was submitted";
}

TEST_F(Estimate, StartsWhenRunningJobsHaveEnded) {
  run(4, "n1", minutes(30));
  run(4, "n2", minutes(60));
  const auto one = ask(TestCluster::spec(2));
  EXPECT_EQ(one->start, kNow + minutes(30));
  EXPECT_THAT(one->nodes, ElementsAre("n1"));
  EXPECT_EQ(one->waiting.reason, Reason::resources);
  EXPECT_EQ(ask(TestCluster::spec(2, 2))->start, kNow + minutes(60));
}

TEST_F(Estimate, StartsAfterJobsThatWaitAlready) {
  run(4, "n1", minutes(30));
  run(4, "n2", minutes(30));
  JobSpec ahead = TestCluster::spec(8, 2);
  ahead.time_limit = minutes(20);
  cluster.submit(ahead);
  const auto e = ask(TestCluster::spec(2));
  EXPECT_EQ(e->start, kNow + minutes(50));
  EXPECT_FALSE(e->at_the_earliest);
  for (int i = 0; i < 200; ++i) cluster.submit(ahead);
  const auto far = ask(TestCluster::spec(2));
  EXPECT_EQ(far->start, kNow + minutes(30));
  EXPECT_TRUE(far->at_the_earliest);
  EXPECT_THAT(far->nodes, IsEmpty());
}

TEST_F(Estimate, StartsNotBeforeItsBeginTime) {
  JobSpec spec = TestCluster::spec();
  spec.begin = kNow + minutes(15);
  const auto e = ask(spec);
  EXPECT_EQ(e->start, kNow + minutes(15));
  EXPECT_EQ(e->waiting.reason, Reason::begin_time);
}

TEST_F(Estimate, IsRefusedAsASubmissionWouldBe) {
  JobSpec spec = TestCluster::spec();
  spec.cpus_per_task = 5;
  const auto e = ask(spec);
  ASSERT_FALSE(e);
  EXPECT_THAT(e.error().message, HasSubstr("Requested node configuration is not available"));
}

TEST_F(Estimate, UnknownForAHeldOrDependentJob) {
  JobSpec held = TestCluster::spec();
  held.hold = true;
  EXPECT_FALSE(ask(held)->start);
  EXPECT_EQ(ask(held)->waiting.reason, Reason::job_held_user);
  run(1, "n1", minutes(5));
  JobSpec dependent = TestCluster::spec();
  dependent.dependencies = {{DependencyKind::after_ok, {JobId{1}, {}}, {}}};
  EXPECT_FALSE(ask(dependent)->start);
  EXPECT_EQ(ask(dependent)->waiting.reason, Reason::dependency);
}

TEST_F(Estimate, ForAnArrayIsThatOfItsFirstTask) {
  JobSpec spec = TestCluster::spec();
  spec.array.emplace().insert(0, 99);
  EXPECT_EQ(ask(spec)->start, kNow);
  EXPECT_EQ(ask(spec)->cpus, 1u);
}

TEST_F(Estimate, AlternativeGpusUseTheFirstToBecomeFree) {
  cluster.add_gpus("n1", "h100", 1);
  cluster.add_gpus("n2", "a100", 2);
  run(4, "n1", minutes(60));
  run(4, "n2", minutes(30));
  JobSpec spec = TestCluster::spec();
  spec.gpu_alternatives = {{{{"h100", 1}}, 1000}, {{{"a100", 2}}, 1000}};
  spec.gpus_per_node = spec.gpu_alternatives[0].gpus;
  spec.time_limit = minutes(100);
  const auto same = ask(spec);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->start, kNow + minutes(30));
  EXPECT_THAT(same->nodes, ElementsAre("n2"));
  spec.gpu_alternatives[1].cost = 1400;
  const auto dear = ask(spec);
  EXPECT_EQ(dear->start, kNow + minutes(60)) << "40 minutes more are dearer than 30 of waiting";
  EXPECT_THAT(dear->nodes, ElementsAre("n1"));
}

}  // namespace
}  // namespace ares::core::sched
