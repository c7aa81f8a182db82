// requested(): how much of a resource a job asks for, under the names of accounting. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core {

// As the specification says it, for the fewest nodes: cpu, mem (MiB, with the partition's default), node, gres/gpu (of all
// types) and gres/gpu:TYPE in thousandths. Nothing of names that are none of these. A null partition has no default.
std::uint64_t requested(const JobSpec& spec, const Partition* partition, std::string_view tres);

}  // namespace ares::core
