// Tests: core/job/gpu_lists, core/job/request_defaults
#include "core/job/gpu_lists.h"

#include <gmock/gmock.h>

#include "core/job/request_defaults.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Gpus = std::vector<GpuRequest>;

// A request as a client sends it: 0 where the user said nothing.
JobSpec request(Gpus per_task, Gpus per_node, Gpus total) {
  JobSpec spec;
  spec.min_nodes = spec.max_nodes = spec.tasks = spec.cpus_per_task = 0;
  spec.gpus_per_task = std::move(per_task);
  spec.gpus_per_node = std::move(per_node);
  spec.gpus_total = std::move(total);
  return spec;
}

JobSpec nodes(JobSpec spec, std::uint32_t least, std::uint32_t most) {
  spec.min_nodes = least;
  spec.max_nodes = most;
  return spec;
}

JobSpec filled(JobSpec spec) {
  fill_in_defaults(spec);
  const Status good = check_gpu_lists(spec);
  EXPECT_TRUE(good) << good.error().message;
  return spec;
}

std::string refusal(JobSpec spec) {
  fill_in_defaults(spec);
  const Status good = check_gpu_lists(spec);
  return good ? "accepted" : good.error().message;
}

TEST(GpuLists, GpusInTotalAndPerNodeSayHowManyNodesThereAre) {
  const JobSpec one = filled(nodes(request({}, {{"", 4}}, {{"", 4}}), 1, 1));
  EXPECT_EQ(one.gpus_per_node, (Gpus{{"", 4}}));
  EXPECT_THAT(one.gpus_total, IsEmpty()) << "the same GPUs are not counted twice";
  EXPECT_EQ(one.max_nodes, 1u);

  const JobSpec two = filled(request({}, {{"", 4}}, {{"", 8}}));
  EXPECT_EQ(two.min_nodes, 2u);
  EXPECT_EQ(two.max_nodes, 2u);
  EXPECT_EQ(two.tasks, 2u);

  const JobSpec range = filled(nodes(request({}, {{"", 4}}, {{"", 8}}), 1, 4));
  EXPECT_EQ(range.min_nodes, 2u) << "the range allows the number";
  EXPECT_EQ(range.max_nodes, 2u);
}

TEST(GpuLists, TypesAreKeptWhereOneListHasNone) {
  for (JobSpec spec :
       {request({{"", 1}}, {{"h100", 2}}, {}), request({{"h100", 1}}, {{"", 2}}, {})}) {
    spec.tasks = 2;
    const JobSpec job = filled(nodes(std::move(spec), 1, 1));
    EXPECT_EQ(job.gpus_per_task, (Gpus{{"h100", 1}}));
    EXPECT_THAT(job.gpus_per_node, IsEmpty());
    EXPECT_EQ(job.tasks_per_node, 2u);
  }
  const JobSpec total = filled(request({{"", 1}}, {}, {{"h100", 2}}));
  EXPECT_EQ(total.gpus_per_task, (Gpus{{"h100", 1}}));
  EXPECT_EQ(total.tasks, 2u);
}

TEST(GpuLists, EachTypeMustFitTheSameNumberOfTimes) {
  const JobSpec two = filled(request({}, {{"a100", 1}, {"h100", 2}}, {{"h100", 4}, {"a100", 2}}));
  EXPECT_EQ(two.min_nodes, 2u);
  EXPECT_THAT(refusal(request({}, {{"a100", 1}, {"h100", 2}}, {{"a100", 4}, {"h100", 4}})),
              HasSubstr("--gpus=a100:4,h100:4 and --gpus-per-node=a100:1,h100:2 do not match"));
}

TEST(GpuLists, DisagreementIsRefused) {
  EXPECT_THAT(
      refusal(nodes(request({}, {{"", 2}}, {{"", 2}}), 2, 2)),
      HasSubstr("2 GPUs in total are 1 node of 2; this does not match the number of nodes"));
  EXPECT_THAT(refusal(request({}, {{"", 3}}, {{"", 4}})),
              HasSubstr("the first must be a multiple of the second"));
  EXPECT_THAT(refusal(request({{"a100", 1}}, {{"h100", 2}}, {})),
              HasSubstr("give the same types of GPUs in both"));
  JobSpec tasks = request({{"", 1}}, {}, {{"", 4}});
  tasks.tasks = 3;
  EXPECT_THAT(refusal(tasks), HasSubstr("4 GPUs in total do not match 3 tasks of 1"));
}

TEST(GpuLists, OneListIsLeftAsItIs) {
  EXPECT_EQ(filled(request({{"", 2}}, {}, {})).gpus_per_task, (Gpus{{"", 2}}));
  EXPECT_EQ(filled(request({}, {{"", 2}}, {})).gpus_per_node, (Gpus{{"", 2}}));
  const JobSpec total = filled(request({}, {}, {{"", 2}}));
  EXPECT_EQ(total.gpus_total, (Gpus{{"", 2}}));
  EXPECT_EQ(total.max_nodes, 0u) << "the cluster's nodes decide";
}

// The nodes of this cluster have two GPUs each.
TEST(GpuLists, MoreGpusThanANodeHasNeedMoreNodes) {
  Cluster cluster(4);
  JobSpec spec = Cluster::spec();
  spec.max_nodes = 0;
  spec.gpus_total = {{"", 3}};
  const JobSpec& stored = *cluster.state().jobs.find(cluster.submit(spec))->spec;
  EXPECT_EQ(stored.min_nodes, 2u);
  EXPECT_EQ(stored.max_nodes, 2u);

  spec.gpus_total = {{"", 9}};
  EXPECT_THAT(cluster.try_submit(spec).error.message, HasSubstr("9 GPUs"));
  spec.gpus_total = {{"", 2}};
  EXPECT_EQ(cluster.state().jobs.find(cluster.submit(spec))->spec->max_nodes, 1u);
}

}  // namespace
}  // namespace ares::core
