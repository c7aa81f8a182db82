// requested(): the amount of a TRES that a job requests. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core {

// By the specification and its fewest nodes: cpu, mem (MiB, with the partition's default), node,
// gres/gpu (all types) and gres/gpu:TYPE in thousandths; else 0. A null partition has no default.
std::uint64_t requested(const JobSpec& spec, const Partition* partition, std::string_view tres);

}  // namespace ares::core
