#include "steps/memory_binding.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

// Two NUMA nodes, numbered 0 and 2 by the kernel.
CpuLayout layout() {
  return parse_cpu_layout("0.0:0-3/8-11;1.2:4-7/12-15").value();
}

TaskMemory of(const char* bind, std::uint32_t task, const char* cpus = "4-5") {
  return memory_of_task(*parse_mem_bind(bind), layout(), *parse_interval_set(cpus), task);
}

TEST(StepMemoryBinding, WithoutItTheKernelChooses) {
  for (const char* bind : {"", "none", "verbose,none"})
    EXPECT_EQ(describe(of(bind, 0)), "any NUMA node") << bind;
}

TEST(StepMemoryBinding, LocalIsTheNumaNodeOfTheTasksCpus) {
  EXPECT_EQ(describe(of("local", 0)), "NUMA node 2 only");
  EXPECT_EQ(describe(of("prefer,local", 0, "1")), "NUMA node 0 first");
  EXPECT_EQ(describe(of("local", 0, "3-4")), "any NUMA node") << "near to all";
}

TEST(StepMemoryBinding, ListsAndRanksGoRoundTheTasksOfTheNode) {
  EXPECT_EQ(describe(of("map_mem:2,0", 0)), "NUMA node 2 only");
  EXPECT_EQ(describe(of("map_mem:2,0", 3)), "NUMA node 0 only");
  EXPECT_EQ(describe(of("mask_mem:0x4", 1)), "NUMA node 2 only");
  EXPECT_EQ(describe(of("mask_mem:0x5", 1)), "any NUMA node");
  EXPECT_EQ(describe(of("rank", 0)), "NUMA node 0 only");
  EXPECT_EQ(describe(of("rank", 1)), "NUMA node 2 only");
  EXPECT_EQ(describe(of("rank", 2)), "NUMA node 0 only");
}

TEST(StepMemoryBinding, WhatHasNoEffectSaysWhy) {
  EXPECT_EQ(of("local", 0).note, "");
  EXPECT_EQ(of("map_mem:1", 0).note,
            "--mem-bind has no effect, because this node has none of the NUMA nodes that it names; "
            "it has 0,2");
  EXPECT_EQ(
      memory_of_task(*parse_mem_bind("local"), layout(), {}, 0).note,
      "--mem-bind has no effect, because the controller did not choose CPUs by their numbers");
  EXPECT_EQ(memory_of_task(*parse_mem_bind("rank"), {}, {}, 0).note,
            "--mem-bind has no effect, because the layout of this node's CPUs is not known");
}

}  // namespace
}  // namespace ares::steps
