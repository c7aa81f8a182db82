// Whether a job got one of its alternatives of GPUs (model/job/gpu_alternatives.h).
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/engine/state.h"

namespace ares::core {

// Whether the GPUs on these nodes are exactly those of alternative `number`. GPUs requested without
// a type must all be of one type. If the job gets whole nodes, by its specification or its
// partition, only the number is checked. For a job without alternatives `number` must be 0.
bool matches_alternative(const ClusterState& state, const JobSpec& spec,
                         const std::string& partition, std::uint32_t number,
                         const NodeShares& nodes);

}  // namespace ares::core
