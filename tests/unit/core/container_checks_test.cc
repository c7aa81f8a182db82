// Jobs that ask for containers: on which nodes they can run.
#include "core/job/checks/container_checks.h"

#include <gmock/gmock.h>

#include "core/cluster/container_nodes.h"
#include "core/job/effects/effects.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JobSpec in_container(const std::string& image = "") {
  JobSpec spec = Cluster::spec();
  spec.container.emplace().image = image;
  return spec;
}

void run_containers(Cluster& c, int node) {
  Inventory inventory = Cluster::machine();
  inventory.features.emplace_back("container");
  c.register_node(node, {}, inventory);
}

TEST(ContainerChecks, WhereNoNodeRunsContainersTheyAreRefused) {
  Cluster c;
  const Reply refused = c.try_submit(in_container());
  ASSERT_TRUE(refused.failed);
  EXPECT_THAT(refused.error.message,
              HasSubstr("no node of partition main runs jobs in containers (--container-image"));
}

TEST(ContainerChecks, TheyRequireTheFeature) {
  Cluster c;
  run_containers(c, 2);
  JobSpec spec = in_container();
  spec.features = {"container"};
  EXPECT_THAT(c.job(c.submit(in_container())).spec->features, ElementsAre("container"));
  EXPECT_THAT(c.job(c.submit(spec)).spec->features, ElementsAre("container"));
  spec = in_container();
  spec.min_nodes = spec.max_nodes = 2;
  spec.tasks = 2;
  EXPECT_TRUE(c.try_submit(spec).failed) << "one node of four runs containers";
}

TEST(ContainerChecks, ThePartitionsImageIsForJobsThatNameNone) {
  Cluster c;
  run_containers(c, 1);
  UpdatePartition change;
  change.names = {"main"};
  change.fields = {"container_image"};
  change.values.container_image = "site:1";
  ASSERT_FALSE(c.user(kRoot, change).failed);
  const auto image_of = [&](const JobSpec& spec) {
    const JobKey key = c.submit(spec);
    c.start(key, {1});
    const Job& job = c.job(key);
    return make_prepare(*c.policy, c.state(), job, 0, layout_of(c.state(), job))
        .launch.container_image;
  };
  EXPECT_EQ(image_of(Cluster::spec()), "site:1");
  EXPECT_EQ(image_of(in_container("own:2")), "own:2");
}

TEST(ContainerChecks, WhatCannotRunThereIsRefusedWhereAllNodesAreSuch) {
  Cluster c(2);
  for (const int node : {1, 2}) run_containers(c, node);
  JobSpec interactive = Cluster::spec(), saves = Cluster::spec(), half = Cluster::spec();
  interactive.script = kHeldAllocation;
  saves.checkpoint.emplace();
  half.gpus_per_node = {{.type = "a100", .count = 0, .part = 500}};
  const auto why = [&](const JobSpec& spec) { return c.try_submit(spec).error.message; };
  EXPECT_THAT(why(interactive), HasSubstr("partition main runs jobs in containers: interactive "
                                          "allocations (aalloc, arun) do not run there; submit"));
  EXPECT_THAT(why(saves), HasSubstr("--checkpoint does not work there; leave it out"));
  EXPECT_THAT(why(half), HasSubstr("a part of a GPU cannot be had there; ask for whole GPUs"));
  JobSpec named = interactive;
  named.required_nodes = {"n1"};
  EXPECT_THAT(why(named), HasSubstr("node n1 of -w runs jobs in containers"));
  c.register_node(2);
  for (const JobSpec& spec : {interactive, saves, half}) EXPECT_EQ(why(spec), "");
  EXPECT_THAT(why(named), HasSubstr("node n1 of -w runs jobs in containers"));
}

TEST(ContainerChecks, LinksOfGpusNeedAllOfANode) {
  Cluster c(1);
  JobSpec linked = Cluster::spec();
  linked.gpu_constraint = {GpuShape::nvlink, 0};
  linked.gpus_per_node = {{"a100", 2}};
  EXPECT_TRUE(c.try_submit(linked).failed) << "nothing is known of the machine";
  run_containers(c, 1);
  EXPECT_EQ(c.try_submit(linked).error.message, "");
  linked.gpus_per_node = {{"a100", 1}};
  EXPECT_EQ(c.try_submit(linked).error.message, "") << "one is linked to itself";
}

}  // namespace
}  // namespace ares::core
