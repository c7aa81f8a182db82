#include "core/cluster/container_nodes.h"

#include <algorithm>

#include "model/job/container_feature.h"
#include "model/job/gpu_part.h"

namespace ares::core {

bool runs_containers(const std::vector<std::string>& features) {
  return std::find(features.begin(), features.end(), kContainerFeature) != features.end();
}

std::string_view why_not_in_containers(const JobSpec& spec) {
  if (spec.script == kHeldAllocation || spec.script == kUnheldAllocation)
    return "interactive allocations (aalloc, arun) do not run there; submit a script with asub, or "
           "name another partition (-p)";
  if (spec.checkpoint)
    return "--checkpoint does not work there; leave it out, or name another partition (-p)";
  // Of alternatives each is looked at by itself.
  if (spec.gpu_alternatives.empty() && part_request(spec))
    return "a part of a GPU cannot be had there; ask for whole GPUs, or name another partition "
           "(-p)";
  return {};
}

}  // namespace ares::core
