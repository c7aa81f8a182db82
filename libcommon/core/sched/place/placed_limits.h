// What a job would get where it was placed, as limits count it: whole nodes, CPUs beside GPUs or more nodes may be more than it asked for.
// Pure; one thread.
#pragma once

#include "core/accounts/limits/requested_tres.h"
#include "core/sched/place/fit.h"

namespace ares::core::sched {

TresByNode placed_amounts(const Placement& placement, const std::vector<LicenseRequest>& licenses,
                          const ClusterIndex& index);

// The licences that it takes whichever it gets: none of those of which one is enough.
const std::vector<LicenseRequest>& certain_licenses(const JobSpec& spec);

}  // namespace ares::core::sched
