#include "core/job/checks/container_checks.h"

#include <algorithm>

#include "model/job/container_feature.h"

namespace ares::core {

bool runs_containers(const std::vector<std::string>& features) {
  return std::find(features.begin(), features.end(), kContainerFeature) != features.end();
}

bool lacks_container_feature(const JobSpec& spec) {
  return spec.container && !runs_containers(spec.features);
}

void require_container_feature(JobSpec& spec) {
  if (lacks_container_feature(spec)) spec.features.emplace_back(kContainerFeature);
}

}  // namespace ares::core
