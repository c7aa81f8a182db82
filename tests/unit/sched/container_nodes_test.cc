// Tests: filter, job_classes, devices
// Jobs that can never run in containers, beside nodes that run jobs in containers: they get the other nodes, or say why they wait.
#include "core/cluster/container_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/job/container_feature.h"
#include "unit/sched/four_nodes.h"

namespace ares::core::sched {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ContainerNodes : public testing::Test {
 protected:
  ContainerNodes() : cluster(four_nodes()) {
    for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add_gpus(name, "a100", 2);
  }
  void run_containers(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      Node node = cluster.node(name);
      node.inventory.features.emplace_back(kContainerFeature);
      cluster.put(node);
    }
  }
  // Of a job alone: it is cancelled then.
  std::vector<std::string> nodes_of(const JobSpec& spec) {
    const JobKey key = cluster.submit(spec);
    const Plan plan = cluster.plan();
    const Start* start = start_of(plan, key);
    Job job = *cluster.state.jobs.find(key);
    job.state = JobState::cancelled;
    cluster.put(std::move(job));
    return start ? node_names(cluster.state, *start) : std::vector<std::string>{};
  }
  static JobSpec interactive() {
    JobSpec spec = TestCluster::spec();
    spec.script = kHeldAllocation;
    return spec;
  }
  static JobSpec with_checkpoints() {
    JobSpec spec = TestCluster::spec();
    spec.checkpoint.emplace();
    return spec;
  }
  static JobSpec half_a_gpu() {
    JobSpec spec = TestCluster::spec();
    spec.gpus_per_node = {{.type = "a100", .count = 0, .part = 500}};
    return spec;
  }
  static JobSpec linked(std::uint32_t gpus) {
    JobSpec spec = TestCluster::spec();
    spec.gpus_per_node = {{"a100", gpus}};
    spec.gpu_constraint = {GpuShape::nvlink, 0};
    return spec;
  }

  TestCluster cluster;
};

TEST_F(ContainerNodes, WhatCannotRunThereGetsTheOtherNodes) {
  run_containers({"n1", "n2", "n3"});
  EXPECT_THAT(nodes_of(interactive()), ElementsAre("n4"));
  EXPECT_THAT(nodes_of(with_checkpoints()), ElementsAre("n4"));
  EXPECT_THAT(nodes_of(half_a_gpu()), ElementsAre("n4"));
  EXPECT_THAT(nodes_of(TestCluster::spec()), ElementsAre("n1")) << "others are not affected";
}

// Of two jobs that are alike but for that, one can run there.
TEST_F(ContainerNodes, JobsThatAreAlikeOtherwiseAreToldApart) {
  run_containers({"n1", "n2", "n3"});
  const JobKey plain = cluster.submit(TestCluster::spec()), held = cluster.submit(interactive());
  const Plan plan = cluster.plan();
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, plain)), ElementsAre("n1"));
  EXPECT_THAT(node_names(cluster.state, *start_of(plan, held)), ElementsAre("n4"));
}

TEST_F(ContainerNodes, WithoutOtherNodesTheyWaitAndSayWhy) {
  run_containers({"n1", "n2", "n3", "n4"});
  const JobKey key = cluster.submit(interactive());
  const Plan plan = cluster.plan();
  EXPECT_FALSE(start_of(plan, key));
  EXPECT_EQ(reason_of(plan, key), Reason::req_node_not_avail);
}

TEST_F(ContainerNodes, LinksOfGpusAreMetByWholeNodesOnly) {
  EXPECT_THAT(nodes_of(linked(2)), ElementsAre()) << "nothing is known of these machines";
  run_containers({"n3"});
  EXPECT_THAT(nodes_of(linked(2)), ElementsAre("n3"));
  Node node = cluster.node("n3");
  node.inventory.gpus.push_back({GpuIndex(2), "a100", {}});
  cluster.put(node);
  EXPECT_THAT(nodes_of(linked(2)), ElementsAre()) << "two of three";
  EXPECT_THAT(nodes_of(linked(3)), ElementsAre("n3"));
}

TEST_F(ContainerNodes, ANodeOnWhichAGpuIsTakenIsNotWhole) {
  run_containers({"n1"});
  JobSpec one = TestCluster::spec();
  one.gpus_per_node = {{"a100", 1}};
  one.required_nodes = {"n1"};
  cluster.submit(one);
  cluster.take(cluster.plan(), kNow);
  EXPECT_THAT(nodes_of(linked(2)), ElementsAre());
}

}  // namespace
}  // namespace ares::core::sched
