// Usage of associations: what an attempt is charged when it is over, and what the sum is worth at a time.
// Exact but for the roundings of fairness/decay.h. Pure functions; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/fairness/decay.h"
#include "model/event.h"
#include "model/policy.h"
#include "model/state.h"

namespace ares::core {

// What a job holds while it runs, in thousandths: cpu, mem (MiB), node, gres/gpu, gres/gpu:TYPE for each type, license/NAME.
TresSeconds held_thousandths(const ClusterState& state, const Job& job);

// The charge for an attempt that lets go of everything `now`: all that was allocated, from then on, without its CPUs for as long as
// it was suspended (counted as if that had been at its beginning). None: its user has no association.
std::optional<UsageCharged> charge_for(const ClusterState& state, const Policy& policy,
                                       const Job& job, Time now);

// What an attempt that still holds what it has would be charged, by TRES, if it ended `now`.
std::map<std::string, fairness::Amount> used_so_far(const ClusterState& state, const Policy& policy,
                                                    const Job& job, Time now);

// What an attempt that still holds what it has would be charged as "billing" if it ended `now`.
fairness::Amount billed_so_far(const ClusterState& state, const Policy& policy, const Job& job,
                               Time now);

// What usage of a job counts as by its QOS, in thousandths.
inline constexpr std::uint64_t kPlainFactor = 1000;
std::uint64_t usage_factor(const CowMap<RecordKey, AccountingRecord>& records, const JobSpec& spec);

// The site's rules of fair share, or what they are by default.
const Fairness& rules_of(const Policy& policy);

// What the usage is worth at `moment`, of what had ended by then. 0 of a TRES never used.
fairness::Amount usage_at(const AssociationUsage& usage, std::string_view tres, Time moment,
                          Seconds half_life);

}  // namespace ares::core
