// From which priority on a waiting job is promised a start ahead of time: MinPrioThresh, and the QOS flag NoReserve. Below that it starts
// when it can at once, and nothing is kept for it. Pure; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/accounts/binding_qos.h"
#include "model/job/job.h"

namespace ares::core {

// More than any priority: of jobs that are promised nothing.
inline constexpr std::uint64_t kNoPlannedStart = std::numeric_limits<std::uint64_t>::max();

// 0: whatever its priority is. Of the two QOS, the user and the accounts the nearest threshold holds.
std::uint64_t planned_start_threshold(const Accounting& records, Enforce enforce,
                                      const JobSpec& spec, const Partition& partition);
// What is said of that, for people; empty: whatever its priority is.
std::string planned_start_threshold_text(const Accounting& records, Enforce enforce,
                                         const JobSpec& spec, const Partition& partition);

}  // namespace ares::core
