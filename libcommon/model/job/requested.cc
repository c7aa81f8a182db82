#include "model/job/requested.h"

#include <algorithm>

#include "base/saturating.h"
#include "model/job/gpu_part.h"

namespace ares {
namespace {

std::uint64_t tasks_of(const JobSpec& spec) {
  return std::max<std::uint64_t>(spec.tasks, 1);
}

// Calls `take` with each request for GPUs and how many times it counts. Of several lists a job keeps one.
template <class Take>
void each_gpu_request(const JobSpec& spec, Take&& take) {
  for (const GpuRequest& request : spec.gpus_per_node) take(request, requested_nodes(spec));
  for (const GpuRequest& request : spec.gpus_per_task) take(request, tasks_of(spec));
  for (const GpuRequest& request : spec.gpus_total) take(request, std::uint64_t{1});
}

std::uint64_t thousandths(const GpuRequest& request, std::uint64_t times) {
  return capped_product(static_cast<std::uint64_t>(thousandths_of(request)), times);
}

std::uint64_t requested_devices(const JobSpec& spec) {
  std::uint64_t devices = 0;
  each_gpu_request(spec, [&](const GpuRequest& request, std::uint64_t times) {
    devices = capped_sum(devices, capped_product<std::uint64_t>(devices_of(request), times));
  });
  return devices;
}

}  // namespace

std::uint64_t requested_nodes(const JobSpec& spec) {
  return std::max<std::uint64_t>(spec.min_nodes, 1);
}

std::uint64_t requested_cpus(const JobSpec& spec) {
  const std::uint64_t each = std::max<std::uint64_t>(spec.cpus_per_task, 1);
  const std::uint64_t by_tasks = capped_product(tasks_of(spec), each);
  const std::uint64_t by_gpus =
      spec.cpus_per_gpu == 0
          ? 0
          : capped_product<std::uint64_t>(requested_devices(spec), spec.cpus_per_gpu);
  return std::max({requested_nodes(spec), by_tasks, by_gpus});
}

std::uint64_t cpu_thousandths_per_task(const JobSpec& spec) {
  const std::uint64_t whole = std::max<std::uint64_t>(spec.cpus_per_task, 1);
  return whole_cpus(spec.cpu_thousandths_per_task) == whole
             ? std::uint64_t{spec.cpu_thousandths_per_task}
             : whole * kWholeCpu;
}

Bytes requested_memory(const JobSpec& spec) {
  if (spec.memory_per_node) return capped_product(*spec.memory_per_node, requested_nodes(spec));
  if (spec.memory_per_cpu) return capped_product(*spec.memory_per_cpu, requested_cpus(spec));
  if (!spec.memory_per_gpu) return Bytes(0);
  return capped_product(*spec.memory_per_gpu, requested_devices(spec));
}

std::uint64_t requested_gpus(const JobSpec& spec, std::string_view type) {
  std::uint64_t sum = 0;
  each_gpu_request(spec, [&](const GpuRequest& request, std::uint64_t times) {
    if (type.empty() || request.type == type) sum = capped_sum(sum, thousandths(request, times));
  });
  return sum;
}

std::map<std::string, std::uint64_t> requested_gpus_by_type(const JobSpec& spec) {
  std::map<std::string, std::uint64_t> counts;
  each_gpu_request(spec, [&](const GpuRequest& request, std::uint64_t times) {
    std::uint64_t& count = counts[request.type];
    count = capped_sum(count, thousandths(request, times));
  });
  return counts;
}

}  // namespace ares
