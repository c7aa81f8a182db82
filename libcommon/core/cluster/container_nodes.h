// Nodes that run jobs in containers (kContainerFeature): which jobs can never run there. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job/job.h"

namespace ares::core {

// Whether nodes with these features run jobs in containers.
bool runs_containers(const std::vector<std::string>& features);

// Why the job can never run on such nodes, and what the user can do, behind "... runs jobs in containers: "; empty: it can. They have no
// aresd beside the job, which interactive allocations and checkpoints need, and Kubernetes gives pods whole devices.
std::string_view why_not_in_containers(const JobSpec& spec);

inline bool is_kept_off_containers(const JobSpec& spec) {
  return !why_not_in_containers(spec).empty();
}

// The batch scripts of interactive allocations, by which they are recognised: step_client::holding_script().
inline constexpr BlobId kHeldAllocation{
    0x61, 0xa6, 0x9d, 0xd3, 0xe5, 0xb3, 0x7b, 0xfc, 0x29, 0x90, 0x0d, 0xc7, 0x49, 0xca, 0xf5, 0xfd,
    0x97, 0x8f, 0x03, 0x05, 0x10, 0x67, 0x1f, 0x9e, 0x11, 0x42, 0x8e, 0x2a, 0x69, 0x2c, 0xfa, 0xb3};
inline constexpr BlobId kUnheldAllocation{
    0x47, 0xfa, 0xee, 0x7f, 0x01, 0xc7, 0x17, 0x2e, 0xa2, 0x70, 0x84, 0xe9, 0x95, 0xd7, 0x9e, 0x81,
    0xf4, 0x2a, 0x7d, 0xad, 0xe1, 0x19, 0xfd, 0x91, 0x19, 0x94, 0x5f, 0x7d, 0x83, 0xb4, 0x28, 0x3e};

}  // namespace ares::core
