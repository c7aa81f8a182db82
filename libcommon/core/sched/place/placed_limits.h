// Amounts that a job would get with a given placement, in the units of limits. Whole nodes, CPUs
// that come with GPUs, or additional nodes can make them larger than the request.
// Pure; one thread.
// Pure; one thread.
#pragma once

#include "core/accounts/limits/requested_tres.h"
#include "core/sched/place/fit.h"

namespace ares::core::sched {

TresByNode placed_amounts(const Placement& placement, const std::vector<LicenseRequest>& licenses,
                          const ClusterIndex& index);

// The licences that the job takes in any case. None if one of several is enough for it.
const std::vector<LicenseRequest>& certain_licenses(const JobSpec& spec);

}  // namespace ares::core::sched
