// What a job requests in all, by its specification and its fewest nodes: for listings, accounting, limits and
// priorities. Amounts that are too large for their type are the largest one. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/units.h"
#include "model/job/job.h"

namespace ares {

std::uint64_t requested_nodes(const JobSpec& spec);
std::uint64_t requested_cpus(const JobSpec& spec);
// The thousandths of CPUs of each task that a node gives which counts them: a fraction counts only if cpus_per_task is
// that amount rounded up, since a client or a hook that knows of no fractions changes cpus_per_task alone.
std::uint64_t cpu_thousandths_per_task(const JobSpec& spec);
// 0: as its partition says.
Bytes requested_memory(const JobSpec& spec);

// Thousandths of GPUs that are requested by this type; of all GPUs if it is empty.
std::uint64_t requested_gpus(const JobSpec& spec, std::string_view type = {});
// The same by type; GPUs of any type are under "".
std::map<std::string, std::uint64_t> requested_gpus_by_type(const JobSpec& spec);

}  // namespace ares
