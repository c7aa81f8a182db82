// Parts of GPUs (model/job/gpu_part.h): refusals at submission, and which starts of a plan the engine accepts.
#include <gmock/gmock.h>

#include "core/engine/invariants.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

JobSpec part_of_a_gpu(std::uint32_t thousandths = 500, const std::string& type = "") {
  JobSpec spec = Cluster::spec();
  spec.gpus_per_node = {{type, 0, thousandths}};
  return spec;
}

JobSpec whole_gpu() {
  JobSpec spec = Cluster::spec();
  spec.gpus_per_node = {{"", 1}};
  return spec;
}

std::string refusal(Cluster& cluster, const std::function<void(JobSpec&)>& change) {
  JobSpec spec = part_of_a_gpu();
  change(spec);
  const Reply reply = cluster.try_submit(spec);
  return reply.failed ? reply.error.message : "accepted";
}

TEST(GpuPartRequests, MustBeBelowOneGpu) {
  Cluster cluster(1);
  EXPECT_EQ(refusal(cluster, [](JobSpec&) {}), "accepted");
  EXPECT_THAT(refusal(cluster, [](JobSpec& s) { s.gpus_per_node[0].part = 1000; }),
              HasSubstr("a part is below 1"));
  EXPECT_THAT(refusal(cluster, [](JobSpec& s) { s.gpus_per_node[0].count = 1; }),
              HasSubstr("1.5 GPUs: a job gets a part of one GPU, below 1, or whole ones"));
  EXPECT_THAT(refusal(cluster, [](JobSpec& s) { s.gpus_per_node[0].part = 0; }),
              HasSubstr("at least one"));
}

TEST(GpuPartRequests, ConflictingOptionsAreNamed) {
  Cluster cluster(2);
  const auto expect = [&](const char* words, const std::function<void(JobSpec&)>& change) {
    EXPECT_THAT(refusal(cluster, change), HasSubstr(words));
  };
  expect("a part of a GPU (0.5) cannot be asked for together with other GPUs", [](JobSpec& s) {
    s.gpus_per_node.push_back({"a100", 1});
  });
  expect("other GPUs", [](JobSpec& s) { s.gpus_total = {{"", 2}}; });
  expect("--gpu-topology=nvlink", [](JobSpec& s) { s.gpu_constraint.shape = GpuShape::nvlink; });
  expect("--min-nvlink=2", [](JobSpec& s) { s.gpu_constraint.min_nvlinks = 2; });
  expect("--exclusive", [](JobSpec& s) { s.exclusive = true; });
  expect("--cpus-per-gpu", [](JobSpec& s) { s.cpus_per_gpu = 2; });
  expect("--mem-per-gpu", [](JobSpec& s) { s.memory_per_gpu = Bytes::gib(1); });
  expect("several tasks of --gpus-per-task", [](JobSpec& s) {
    std::swap(s.gpus_per_task, s.gpus_per_node);
    s.tasks = 2;
  });
  expect("several nodes of --gpus", [](JobSpec& s) {
    std::swap(s.gpus_total, s.gpus_per_node);
    s.min_nodes = s.max_nodes = s.tasks = 2;
  });
  expect("needs 0.5 h200 GPU on one node; the most a node of partition main has is 0",
         [](JobSpec& s) { s.gpus_per_node[0].type = "h200"; });
}

TEST(GpuPartRequests, WorkWithArraysTasksAndAlternatives) {
  Cluster cluster(2);
  const auto accepted = [&](const std::function<void(JobSpec&)>& change) {
    EXPECT_EQ(refusal(cluster, change), "accepted");
  };
  accepted([](JobSpec& s) { s.array.emplace().insert(0, 3); });
  accepted([](JobSpec& s) { s.min_nodes = s.max_nodes = s.tasks = 2; });
  accepted([](JobSpec& s) { std::swap(s.gpus_per_task, s.gpus_per_node); });
  accepted([](JobSpec& s) { std::swap(s.gpus_total, s.gpus_per_node); });
  accepted([](JobSpec& s) {
    s.gpu_alternatives = {{{{"", 0, 500}}, 1000}, {{{"a100", 1}}, 1000}};
  });
  EXPECT_THAT(refusal(cluster,
                      [](JobSpec& s) {
                        s.gpu_alternatives = {{{{"", 0, 500}}, 1000}, {{{"a100", 1, 500}}, 1000}};
                      }),
              HasSubstr("a100:1.5: "));
}

// Whether the engine starts the job with this part of this device of n1; 0 = the whole device.
bool starts_on(Cluster& cluster, JobKey key, std::uint16_t gpu, std::uint32_t part) {
  PlanGroup group = cluster.group(key, {1});
  group.starts[0].nodes.change(0, [&](NodeShare& share) {
    share.gpus = {GpuIndex(gpu)};
    share.gpu_part = part;
  });
  cluster.plan({group});
  return cluster.job(key).state == JobState::configuring;
}

TEST(GpuParts, AreAllocatedUntilTheDeviceIsFull) {
  Cluster cluster(1);
  const JobKey a = cluster.submit(part_of_a_gpu(600)), b = cluster.submit(part_of_a_gpu(400)),
               c = cluster.submit(part_of_a_gpu(1)), whole = cluster.submit(whole_gpu());
  EXPECT_TRUE(starts_on(cluster, a, 0, 600));
  EXPECT_FALSE(starts_on(cluster, b, 0, 500)) << "not what it asked for";
  EXPECT_FALSE(starts_on(cluster, b, 1, 0)) << "a whole one";
  EXPECT_FALSE(starts_on(cluster, whole, 0, 0)) << "it is shared";
  EXPECT_FALSE(starts_on(cluster, whole, 1, 500)) << "a part for one that asked for all";
  EXPECT_TRUE(starts_on(cluster, b, 0, 400));
  EXPECT_FALSE(starts_on(cluster, c, 0, 1)) << "full";
  EXPECT_TRUE(starts_on(cluster, c, 1, 1));
  EXPECT_FALSE(starts_on(cluster, whole, 1, 0));
  EXPECT_THAT(check_invariants(cluster.state()), IsEmpty());
  const std::vector<Charge>& charges = cluster.node(1).charges;
  ASSERT_EQ(charges.size(), 3u);
  EXPECT_EQ(charges[0].gpu_part, 600u);
  cluster.progress(1, a, AttemptPhase::ready);
  const auto* launched = cluster.last_sent<Prepare>(1);
  ASSERT_TRUE(launched);
  EXPECT_EQ(launched->launch.share.gpu_part, 1u) << "of the last that was launched";
}

TEST(GpuParts, OfOnePlanCountTogether) {
  Cluster cluster(1);
  std::vector<PlanGroup> groups;
  std::vector<JobKey> keys;
  for (int i = 0; i < 3; ++i) {
    keys.push_back(cluster.submit(part_of_a_gpu(400)));
    groups.push_back(cluster.group(keys.back(), {1}));
    groups.back().starts[0].nodes.change(0, [](NodeShare& share) {
      share.gpus = {GpuIndex(0)};
      share.gpu_part = 400;
    });
  }
  cluster.plan(groups);
  EXPECT_EQ(cluster.job(keys[1]).state, JobState::configuring);
  EXPECT_EQ(cluster.job(keys[2]).state, JobState::pending);
}

}  // namespace
}  // namespace ares::core
