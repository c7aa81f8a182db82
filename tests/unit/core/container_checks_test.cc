// Jobs that ask for containers: on which nodes they can run.
#include "core/job/checks/container_checks.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace ares::core
