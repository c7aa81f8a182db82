// Whether a job got one of the alternatives of GPUs that it asked for (model/job/gpu_alternatives.h).
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/engine/state.h"

namespace ares::core {

// Whether the GPUs on these nodes are exactly those of that alternative: of its types, and of one type where it names none. Of a job that
// takes whole nodes, by itself or for its partition is so, only that there is such an alternative; of one without alternatives that it is
// none.
bool matches_alternative(const ClusterState& state, const JobSpec& spec,
                         const std::string& partition, std::uint32_t number,
                         const NodeShares& nodes);

}  // namespace ares::core
