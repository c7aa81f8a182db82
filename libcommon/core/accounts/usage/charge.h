// What an attempt is charged, and to whom: to its association, its QOS, its partition's QOS and its wckey, all that was allocated, from then until it has let go
// of everything. Pure functions; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/accounts/account_directory.h"
#include "core/fairness/decay.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// What a job holds while it runs, in thousandths: cpu, mem (MiB), node, gres/gpu, gres/gpu:TYPE for each type, license/NAME.
TresSeconds held_thousandths(const ClusterState& state, const Allocation& allocation);

// Whose usage an attempt will count as that begins now, and at which rates.
ChargedTo charged_to(const ClusterState& state, const Policy& policy, const JobSpec& spec,
                     const Allocation& allocation);

// That note of a job that holds resources; of one that began under an earlier release, as it would be now.
ChargedTo charges_of(const ClusterState& state, const Policy& policy, const Job& job);

// The charge for an attempt that lets go of everything `now`, without its CPUs for as long as it was suspended (counted as if that
// had been at its beginning). None: its user has no association. Who was taken out of the account while it ran leaves the charge there.
std::optional<UsageCharged> charge_for(const ClusterState& state, const Policy& policy,
                                       const Job& job, Time now);

// What an attempt that still holds what it has would be charged, by TRES, if it ended `now`, of what it used since `since`.
std::map<std::string, fairness::Amount> used_so_far(const ClusterState& state, const Policy& policy,
                                                    const Job& job, Time now, Seconds half_life,
                                                    Time since);
// Likewise as "billing" alone.
fairness::Amount billed_so_far(const ClusterState& state, const Policy& policy, const Job& job,
                               Time now, Time since);

// One attempt as the records have it: what any amounts of TRES that it held are worth at `at`, of what it used since `since`.
struct PastAttempt {
  Time allocated{}, released{};
  Duration suspended{};
  TresSeconds held;  // thousandths, with gres/gpu:TYPE and licences, without billing
  ChargedTo charged_to;
};
std::map<std::string, fairness::Amount> worth_of(const PastAttempt& attempt, Time at,
                                                 Seconds half_life, Time since);

// The QOS whose usage is kept under that number; null: none, or it is gone. O(QOS).
const Qos* qos_of_usage(const Accounting& records, AssociationId id);

// What usage of a job counts as by its QOS, in thousandths.
inline constexpr std::uint64_t kPlainFactor = 1000;
std::uint64_t usage_factor(const Accounting& records, const JobSpec& spec);

// The site's rules of fair share, or what they are by default.
const Fairness& rules_of(const Policy& policy);

// Of usage that is kept under that number: that of a QOS with NoDecay never decays.
Seconds half_life_of(const Qos& qos, const Fairness& rules);

}  // namespace ares::core
