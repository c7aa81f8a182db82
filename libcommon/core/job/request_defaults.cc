#include "core/job/request_defaults.h"

#include <algorithm>

#include "core/job/gpu_lists.h"
#include "model/job/constraint.h"
#include "model/job/requested.h"

namespace ares::core {

void fill_in_defaults(JobSpec& spec) {
  const auto count = [](std::uint64_t n) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, 1'000'000'000));
  };
  spec.cpus_per_task = std::max(spec.cpus_per_task, 1u);
  // A fraction that is none, or that a hook has overruled by cpus_per_task.
  if (cpu_thousandths_per_task(spec) % kWholeCpu == 0) spec.cpu_thousandths_per_task = 0;
  if (spec.node_counts && !spec.node_counts->empty()) {
    spec.min_nodes = spec.node_counts->front();
    spec.max_nodes = spec.node_counts->back();
  }
  fill_in_from_gpu_lists(spec);
  const std::uint32_t per_node = std::max(spec.tasks_per_node, 1u);
  const auto constraint = parse_constraints(spec.features);  // invalid ones are refused later
  const std::uint32_t named = count(std::max<std::uint64_t>(
      spec.required_nodes.size(), constraint ? constraint->counted_nodes() : 0));
  const bool counted = spec.min_nodes > 0;
  if (spec.tasks == 0)
    spec.tasks = count(std::uint64_t{std::max({spec.min_nodes, named, 1u})} * per_node);
  if (!counted) {
    const std::uint64_t needed =
        spec.tasks_per_node > 0 ? (std::uint64_t{spec.tasks} + per_node - 1) / per_node : 1;
    spec.min_nodes = std::max({count(needed), named, 1u});
  }
  const bool open = !counted && (!spec.required_nodes.empty() || !spec.gpus_total.empty());
  if (spec.max_nodes == 0 && !open)
    spec.max_nodes = counted ? spec.min_nodes : std::max(spec.min_nodes, spec.tasks);
  keep_deciding_gpu_list(spec);
  // An array that names a gang without a size is all of it.
  if (spec.gang && spec.gang->size == 0 && spec.array) spec.gang->size = count(spec.array->count());
}

}  // namespace ares::core
