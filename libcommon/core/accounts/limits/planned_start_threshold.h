// The priority from which waiting jobs get a planned start: MinPrioThresh, the QOS flag NoReserve.
// Jobs below it start only if they can at once; nothing is reserved for them. Pure; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/accounts/binding_qos.h"
#include "model/job/job.h"

namespace ares::core {

// Higher than any priority: for jobs that never get a planned start.
inline constexpr std::uint64_t kNoPlannedStart = std::numeric_limits<std::uint64_t>::max();

// 0: no threshold. The nearest threshold of the two QOS, the user and the accounts applies.
std::uint64_t planned_start_threshold(const Accounting& records, Enforce enforce,
                                      const JobSpec& spec, const Partition& partition);
// The threshold as text for users; empty: no threshold.
std::string planned_start_threshold_text(const Accounting& records, Enforce enforce,
                                         const JobSpec& spec, const Partition& partition);

}  // namespace ares::core
