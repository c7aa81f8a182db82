// The memory of jobs that ask for none. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// For each CPU, if it is the same in all the partitions; otherwise the partition that the job
// starts in decides. None as well if the job asks for memory.
std::optional<Bytes> default_memory(const ClusterState& state, const JobSpec& spec,
                                    const std::vector<std::string>& partitions);

}  // namespace ares::core
