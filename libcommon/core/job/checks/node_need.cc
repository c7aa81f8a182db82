#include "core/job/checks/node_need.h"

#include <algorithm>
#include <limits>

#include "base/saturating.h"
#include "model/job/gpu_part.h"
#include "model/job/requested.h"

namespace ares::core {
namespace {

std::int64_t as_signed(std::uint64_t amount) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(amount, kMost));
}

}  // namespace

std::string cpus_text(std::uint64_t thousandths) {
  return format_thousandths(as_signed(thousandths));
}

Bytes memory_of_cpus(Bytes per_cpu, std::uint64_t thousandths) {
  const std::int64_t memory = capped_product(per_cpu.value(), as_signed(thousandths));
  return Bytes(memory / kWholeCpu + (memory % kWholeCpu > 0 ? 1 : 0));
}

NodeNeed node_need(const JobSpec& spec, bool exact, std::uint64_t gpus_per_task,
                   std::uint64_t gpus_each) {
  const std::uint64_t per_gpu = in_thousandths(spec.cpus_per_gpu);
  NodeNeed need;
  need.per_task = exact ? cpu_thousandths_per_task(spec)
                        : in_thousandths(std::max<std::uint32_t>(1, spec.cpus_per_task));
  need.per_task = std::max(need.per_task, capped_product(gpus_per_task, per_gpu));
  // Tasks of an overcommitted job share what there is.
  const std::uint64_t least = exact ? 1 : kWholeCpu;
  const std::uint64_t of_tasks =
      spec.overcommit
          ? least
          : capped_product(need.per_task, std::max<std::uint64_t>(1, spec.tasks_per_node));
  need.cpus = std::max(of_tasks, capped_product(gpus_each, per_gpu));
  need.memory = spec.memory_per_node.value_or(Bytes{});
  if (spec.memory_per_gpu) need.memory = capped_product(*spec.memory_per_gpu, gpus_each);
  if (spec.memory_per_cpu)
    need.memory = std::max(need.memory, memory_of_cpus(*spec.memory_per_cpu, need.cpus));
  return need;
}

}  // namespace ares::core
