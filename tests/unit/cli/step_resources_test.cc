#include "arun/step_resources.h"

#include <gtest/gtest.h>

namespace ares::arun {
namespace {

steps::StepRequest read(const StepResources& wanted, bool in_own_job = false) {
  steps::StepRequest request;
  const Status set = set_resources(wanted, in_own_job, request);
  EXPECT_TRUE(set) << set.error().message;
  return request;
}

std::string refused(const StepResources& wanted) {
  steps::StepRequest request;
  const Status set = set_resources(wanted, false, request);
  EXPECT_FALSE(set);
  return set ? "" : set.error().message;
}

TEST(StepResources, GpusAreCountedInAllWaysOfSlurm) {
  EXPECT_FALSE(read({}).gpus || read({}).gpus_per_node);
  EXPECT_EQ(read({.gpus = "4"}).gpus, 4u);
  EXPECT_EQ(read({.gpus_per_node = "a100:2"}).gpus_per_node, 2u);
  EXPECT_EQ(read({.gpus_per_node = "a100:2"}).task.gpu_type, "a100");
  EXPECT_EQ(read({.gres = "gpu:3"}).gpus_per_node, 3u);
  EXPECT_EQ(read({.gres = "gpu"}).gpus_per_node, 1u);
  EXPECT_EQ(read({.gres = "none"}).gpus_per_node, 0u);
  EXPECT_EQ(read({.gpus = "0"}).gpus, 0u);
  EXPECT_EQ(read({.gpus_per_task = "1"}).task.gpus_per_task, 1u);
}

TEST(StepResources, WhatAStepCannotHaveIsRefusedByName) {
  EXPECT_NE(refused({.gpus = "0.5"}).find("--gpus=0.5"), std::string::npos);
  EXPECT_NE(refused({.gres = "gpu:h100:4|gpu:a100:8"}).find("alternatives"), std::string::npos);
  EXPECT_NE(refused({.gres = "gpu:h100:1,gpu:a100:1"}).find("one type"), std::string::npos);
  EXPECT_NE(refused({.gres = "fpga:1"}).find("fpga"), std::string::npos);
  EXPECT_NE(refused({.gpus = "2", .gpus_per_node = "1"}).find("give one"), std::string::npos);
  EXPECT_NE(refused({.gpus = "h100:2", .gpus_per_task = "a100:1"}).find("h100"), std::string::npos);
  EXPECT_NE(refused({.time = "soon"}).find("--time"), std::string::npos);
  EXPECT_NE(refused({.memory_per_cpu = "x"}).find("--mem-per-cpu"), std::string::npos);
}

TEST(StepResources, MemoryIsBoundAsTheStepSaysOrElseItsJob) {
  const auto bound = [](const StepResources& wanted, const char* of_job) {
    steps::StepRequest request;
    const Status set = set_mem_bind(wanted, of_job, request);
    return set ? request.task.mem_bind : set.error().message;
  };
  EXPECT_EQ(bound({}, nullptr), "");
  EXPECT_EQ(bound({}, "local"), "local");
  EXPECT_EQ(bound({.mem_bind = "none"}, "local"), "none");
  EXPECT_EQ(bound({.mem_bind = "near"}, "local").find("--mem-bind: \"near\" is not a way"), 0U);
}

TEST(StepResources, TimeIsKeptToTheSecondAndMemoryInBytes) {
  EXPECT_EQ(read({.time = "0:30"}).time_limit, 30u);
  EXPECT_EQ(read({.time = "2"}).time_limit, 120u);
  EXPECT_EQ(read({.time = "0"}).time_limit, 0u);
  EXPECT_EQ(read({.memory_per_node = "100"}).task.memory_per_node, std::int64_t{100} << 20);
  EXPECT_EQ(read({.memory_per_cpu = "1G"}).task.memory_per_cpu, std::int64_t{1} << 30);
}

TEST(StepResources, StepOfAnOwnJobHasAllOfTheJob) {
  const steps::StepRequest request = read({.time = "1",
                                           .memory_per_node = "1G",
                                           .gpus = "2",
                                           .gpus_per_task = "1",
                                           .gres = "gpu:h100:4|gpu:a100:8"},
                                          true);
  EXPECT_FALSE(request.gpus || request.gpus_per_node);
  EXPECT_EQ(request.time_limit, 0u);
  EXPECT_EQ(request.task.memory_per_node, 0);
  EXPECT_EQ(request.task.gpus_per_task, 1u);
  EXPECT_EQ(read({.gpus_per_task = "0.5"}, true).task.gpus_per_task, 0u) << "a part of a GPU";
}

}  // namespace
}  // namespace ares::arun
