#include "core/job/checks/container_checks.h"

#include "core/cluster/container_nodes.h"
#include "model/job/container_feature.h"

namespace ares::core {

bool lacks_container_feature(const JobSpec& spec) {
  return spec.container && !runs_containers(spec.features);
}

void require_container_feature(JobSpec& spec) {
  if (lacks_container_feature(spec)) spec.features.emplace_back(kContainerFeature);
}

}  // namespace ares::core
