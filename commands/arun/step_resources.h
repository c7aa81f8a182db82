// What the options of arun ask for within a job: GPUs, memory and time of the step. Called by main().
#pragma once

#include <string>

#include "base/result.h"
#include "steps/request.h"

namespace ares::arun {

// As given; empty: not said.
struct StepResources {
  std::string time{}, memory_per_node{}, memory_per_cpu{};
  std::string gpus{}, gpus_per_node{}, gpus_per_task{}, gres{};
  std::string gpu_bind{}, mem_bind{};  // else what the job was submitted with
};

// In a job of its own the step has all that the job has, which was asked for with the same options: only
// what is about each task is taken from them. invalid_argument: a step cannot have it.
Status set_resources(const StepResources& wanted, bool in_own_job, steps::StepRequest& request);

// After set_resources(). `of_job`: what the job was submitted with; null: nothing. invalid_argument: it cannot be read, or contradicts
// --gpus-per-task.
Status set_gpu_bind(const StepResources& wanted, const char* of_job, steps::StepRequest& request);

// Likewise.
Status set_mem_bind(const StepResources& wanted, const char* of_job, steps::StepRequest& request);

}  // namespace ares::arun
