// Which GPUs of its step a task uses, as --gpu-bind says. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "model/job/binding_options.h"

namespace ares::steps {

// A step on one node.
struct StepGpus {
  std::vector<std::uint32_t> gpus;  // by position among those of the job
  std::uint32_t gpus_per_task = 0;  // as asked for; 0: each task uses all
  std::vector<IntervalSet>
      near_cpus{};  // by position among those of the job; empty sets: not known
  std::vector<IntervalSet> cpus_of_tasks{};  // empty sets: not bound
};

// The GPUs of a task, by position among those of the job. `task` counts the tasks of the node from 0. Lists and masks count the GPUs of the
// step on the node from 0. invalid_argument: they name one that the step does not have there.
Result<std::vector<std::uint32_t>> gpus_of_task(const GpuBind& bind, const StepGpus& step,
                                                std::uint32_t task);

}  // namespace ares::steps
