// What an attempt is charged, and to what: association, QOS, partition's QOS, wckey; all that is
// allocated, until the attempt has released all of it. Pure functions; any thread.
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

// What a job holds, in thousandths: cpu, mem (MiB), node, gres/gpu, gres/gpu:TYPE, license/NAME.
TresSeconds held_thousandths(const ClusterState& state, const Allocation& allocation);

// What an attempt that starts now will be charged to, and the rates.
ChargedTo charged_to(const ClusterState& state, const Policy& policy, const JobSpec& spec,
                     const Allocation& allocation);

// The ChargedTo stored at the start; computed for jobs of earlier releases that did not store it.
ChargedTo charges_of(const ClusterState& state, const Policy& policy, const Job& job);

// The charge for an attempt that releases everything `now`, without CPUs for the time suspended (as
// if at its beginning). None: no association. It stays in the account if the user left that.
std::optional<UsageCharged> charge_for(const ClusterState& state, const Policy& policy,
                                       const Job& job, Time now);

// The charge by TRES if the attempt, still running, ended `now`, for its use since `since`.
std::map<std::string, fairness::Amount> used_so_far(const ClusterState& state, const Policy& policy,
                                                    const Job& job, Time now, Seconds half_life,
                                                    Time since);
// The same for "billing" alone.
fairness::Amount billed_so_far(const ClusterState& state, const Policy& policy, const Job& job,
                               Time now, Time since);

// An attempt from the accounting records, and what its use since `since` is worth at `at`, by TRES.
struct PastAttempt {
  Time allocated{}, released{};
  Duration suspended{};
  TresSeconds held;  // thousandths, with gres/gpu:TYPE and licences, without billing
  ChargedTo charged_to;
};
std::map<std::string, fairness::Amount> worth_of(const PastAttempt& attempt, Time at,
                                                 Seconds half_life, Time since);

// The QOS with that usage id; null if there is none. O(QOS).
const Qos* qos_of_usage(const Accounting& records, AssociationId id);

// The factor for usage by the job's QOS, in thousandths.
inline constexpr std::uint64_t kPlainFactor = 1000;
std::uint64_t usage_factor(const Accounting& records, const JobSpec& spec);

// The site's rules of fair share, or the defaults.
const Fairness& rules_of(const Policy& policy);

// The half-life of a QOS's usage; 0 with NoDecay, which means no decay.
Seconds half_life_of(const Qos& qos, const Fairness& rules);

}  // namespace ares::core
