// What a job requests in all: one calculation for listings, accounting, limits and priorities.
#include "model/job/requested.h"

#include <gtest/gtest.h>

#include <limits>

namespace ares {
namespace {

JobSpec spec() {
  JobSpec out;
  out.min_nodes = 2;
  out.tasks = 6;
  out.cpus_per_task = 4;
  return out;
}

TEST(Requested, CpusAreThoseOfTasksAndAtLeastOneForEachNode) {
  EXPECT_EQ(requested_cpus(spec()), 24u);
  JobSpec wide;
  wide.min_nodes = 5;
  wide.tasks = 1;
  EXPECT_EQ(requested_cpus(wide), 5u);
  wide.tasks = wide.cpus_per_task = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(requested_cpus(wide), 0xfffffffe00000001u);
}

TEST(Requested, AFractionOfACpuCountsBesideItsOwnNumberOfCpus) {
  JobSpec job;
  EXPECT_EQ(cpu_thousandths_per_task(job), 1000u);
  job.cpu_thousandths_per_task = 490;
  EXPECT_EQ(cpu_thousandths_per_task(job), 490u);
  EXPECT_EQ(requested_cpus(job), 1u) << "rounded up";
  job.cpus_per_task = 2;  // set alone
  EXPECT_EQ(cpu_thousandths_per_task(job), 2000u);
  job.cpu_thousandths_per_task = 1001;
  EXPECT_EQ(cpu_thousandths_per_task(job), 1001u);
  job.cpus_per_task = 0;
  job.cpu_thousandths_per_task = 0;
  EXPECT_EQ(cpu_thousandths_per_task(job), 1000u);
}

TEST(Requested, CpusOfGpusCountForEachOfThem) {
  JobSpec job;
  job.cpus_per_gpu = 2;
  EXPECT_EQ(requested_cpus(job), 1u);
  job.gpus_total = {{.type = "a100", .count = 3}};
  EXPECT_EQ(requested_cpus(job), 6u);
  job.gpus_total.clear();
  job.min_nodes = 2;
  job.gpus_per_node = {{.type = "", .count = 4}};
  EXPECT_EQ(requested_cpus(job), 16u);
  job.memory_per_cpu = Bytes::gib(1);
  EXPECT_EQ(requested_memory(job), Bytes::gib(16));
  job.gpus_per_node.clear();
  job.gpus_per_task = {{.type = "", .count = 1}};
  job.tasks = 5;
  EXPECT_EQ(requested_cpus(job), 10u);
  job.cpus_per_task = 3;
  EXPECT_EQ(requested_cpus(job), 15u) << "as the tasks need";
}

TEST(Requested, MemoryCountsForEachNodeCpuOrGpu) {
  JobSpec job = spec();
  EXPECT_EQ(requested_memory(job), Bytes(0));
  job.memory_per_node = Bytes::gib(3);
  EXPECT_EQ(requested_memory(job), Bytes::gib(6));
  job.memory_per_node.reset();
  job.memory_per_cpu = Bytes::gib(1);
  EXPECT_EQ(requested_memory(job), Bytes::gib(24));
  job.memory_per_cpu.reset();
  job.memory_per_gpu = Bytes::gib(5);
  job.gpus_per_task = {{.type = "a100", .count = 2}};
  EXPECT_EQ(requested_memory(job), Bytes::gib(60));
  job.gpus_per_task.clear();
  job.gpus_per_node = {{.type = "a100", .count = 2}, {.type = "h100", .count = 1}};
  EXPECT_EQ(requested_memory(job), Bytes::gib(30));
}

TEST(Requested, GpusCountByTypeInThousandths) {
  JobSpec job = spec();
  job.gpus_per_node = {{.type = "a100", .count = 2}, {.type = "", .count = 1}};
  EXPECT_EQ(requested_gpus(job), 6000u);
  EXPECT_EQ(requested_gpus(job, "a100"), 4000u);
  EXPECT_EQ(requested_gpus(job, "h100"), 0u);
  EXPECT_EQ(requested_gpus_by_type(job),
            (std::map<std::string, std::uint64_t>{{"", 2000}, {"a100", 4000}}));
  JobSpec part;
  part.gpus_per_node = {{.type = "", .part = 500}};
  EXPECT_EQ(requested_gpus(part), 500u);
}

}  // namespace
}  // namespace ares
