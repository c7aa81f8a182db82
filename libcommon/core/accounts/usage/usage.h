// Usage: sums of TRES-seconds that decay, their worth at a time, and how they are reset, moved and
// corrected. Exact but for the rounding of fairness/decay.h. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fairness/decay.h"
#include "model/engine/command.h"
#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

UsageUnits units_of(fairness::Amount amount);

// From when the usage of `id` counts: earlier use has been reset. 0 = all of it counts.
Time counted_from(const ClusterState& state, AssociationId id);

// Of one TRES: what ended by `settled_at`, as worth then, and what ended since, as of `recent_at`.
struct UsageParts {
  fairness::Amount settled;
  Time settled_at{};
  fairness::Amount recent;
  Time recent_at{};
};
UsageParts parts_of(const AssociationUsage& usage, std::string_view tres);

// What they are worth at `moment`, by factor_of(elapsed).
template <class FactorOf>
fairness::Amount worth_at(const UsageParts& parts, Time moment, Time since, FactorOf&& factor_of) {
  const auto worth = [&](fairness::Amount amount, Time at) {
    // For most, `recent` is zero.
    return amount.units == 0 ? amount : fairness::decayed(amount, factor_of(moment - at));
  };
  fairness::Amount sum;
  if (parts.settled_at >= since) sum = worth(parts.settled, parts.settled_at);
  if (parts.recent_at >= since && moment > parts.settled_at)
    sum = sum + worth(parts.recent, parts.recent_at);
  return sum;
}

// The worth at `moment` of use that ended by then and counts from `since`; 0 if there is none.
fairness::Amount usage_at(const AssociationUsage& usage, std::string_view tres, Time moment,
                          Seconds half_life, Time since);

// The same at the latest moment possible: of all that was charged.
fairness::Amount all_usage_at(const AssociationUsage& usage, std::string_view tres, Time now,
                              Seconds half_life, Time since);

// Use that ended at `ended`, and its worth at that time.
struct Used {
  std::string tres;
  fairness::Amount amount;
};

// Adds use. `at_once`: it counts for ranks now, not only from their next computation.
AssociationUsage added(AssociationUsage usage, const std::vector<Used>& used, Time ended,
                       bool at_once, Seconds calc_period, Seconds half_life, Time since);

// The sum of both, under the id of the first.
AssociationUsage merged(AssociationUsage usage, const AssociationUsage& other, Seconds half_life,
                        Time since);

// Empty usage; what was used before `now` never counts again.
AssociationUsage reset(AssociationId id, Time now);

// Never below zero. Unchanged if it was reset after the correction was made.
AssociationUsage corrected(AssociationUsage usage, const UsageCorrection& correction,
                           Seconds calc_period, Seconds half_life, Time since);

}  // namespace ares::core
