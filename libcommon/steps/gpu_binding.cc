#include "steps/gpu_binding.h"

#include <algorithm>
#include <map>

namespace ares::steps {
namespace {

using Positions = std::vector<std::uint32_t>;

// Its part of the GPUs of the step, in the order of the tasks.
Positions share_of(const StepGpus& step, std::uint32_t task) {
  const std::size_t each = step.gpus_per_task;
  if (each == 0 || step.gpus.size() < each * (task + 1)) return step.gpus;
  const auto first = step.gpus.begin() + static_cast<std::ptrdiff_t>(each * task);
  return {first, first + static_cast<std::ptrdiff_t>(each)};
}

// Those that are nearest to CPUs of the task; all, where none is or that is not known.
Positions closest(const StepGpus& step, std::uint32_t task) {
  Positions near;
  if (task < step.cpus_of_tasks.size())
    for (const std::uint32_t gpu : step.gpus) {
      const IntervalSet& cpus = step.cpus_of_tasks[task];
      if (gpu < step.near_cpus.size() &&
          std::any_of(cpus.begin(), cpus.end(),
                      [&](std::uint32_t cpu) { return step.near_cpus[gpu].contains(cpu); }))
        near.push_back(gpu);
    }
  return near.empty() ? step.gpus : near;
}

// One near GPU for each task in turn: the first that has fewer than `most` tasks, else one of those with the fewest.
Positions single(const StepGpus& step, std::uint32_t task, std::uint32_t most) {
  if (step.gpus.empty()) return {};
  std::map<std::uint32_t, std::uint32_t> tasks_on;
  for (std::uint32_t at = 0;; ++at) {
    const Positions near = closest(step, at);
    auto chosen = std::find_if(near.begin(), near.end(),
                               [&](std::uint32_t gpu) { return tasks_on[gpu] < most; });
    if (chosen == near.end())
      chosen = std::min_element(near.begin(), near.end(), [&](std::uint32_t a, std::uint32_t b) {
        return tasks_on[a] < tasks_on[b];
      });
    if (at == task) return {*chosen};
    ++tasks_on[*chosen];
  }
}

Result<Positions> listed(const StepGpus& step, const IntervalSet& wanted) {
  Positions gpus;
  for (const std::uint32_t number : wanted) {
    if (number >= step.gpus.size())
      return fail(
          ErrorCode::invalid_argument,
          "--gpu-bind names GPU " + std::to_string(number) + ", and the step has " +
              (step.gpus.empty() ? "none here"
                                 : "GPUs 0 to " + std::to_string(step.gpus.size() - 1) + " here"));
    gpus.push_back(step.gpus[number]);
  }
  return gpus;
}

}  // namespace

Result<std::vector<std::uint32_t>> gpus_of_task(const GpuBind& bind, const StepGpus& step,
                                                std::uint32_t task) {
  switch (bind.kind) {
    case GpuBindKind::none: return step.gpus;
    case GpuBindKind::closest: return closest(step, task);
    case GpuBindKind::single: return single(step, task, bind.count);
    case GpuBindKind::map:
    case GpuBindKind::mask: return listed(step, bind.list.of_task(task));
    case GpuBindKind::unset:
    case GpuBindKind::per_task: break;
  }
  return share_of(step, task);
}

}  // namespace ares::steps
