// What has been used: sums of TRES-seconds that decay by themselves, what they are worth at a time, and how they are reset, moved and
// put right. Exact but for the roundings of fairness/decay.h. Pure functions; any thread.
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

// From when on use by this one counts: what was before has been reset. 0 = from the first on.
Time counted_from(const ClusterState& state, AssociationId id);

// Of one TRES: what had ended by the one time, as it was worth then, and what ended since, as of the other.
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
    // Most have nothing that is recent.
    return amount.units == 0 ? amount : fairness::decayed(amount, factor_of(moment - at));
  };
  fairness::Amount sum;
  if (parts.settled_at >= since) sum = worth(parts.settled, parts.settled_at);
  if (parts.recent_at >= since && moment > parts.settled_at)
    sum = sum + worth(parts.recent, parts.recent_at);
  return sum;
}

// What the usage is worth at `moment`, of what had ended by then and counts since `since`. 0 of a TRES never used.
fairness::Amount usage_at(const AssociationUsage& usage, std::string_view tres, Time moment,
                          Seconds half_life, Time since);

// The same at the latest moment there is: of all that was charged.
fairness::Amount all_usage_at(const AssociationUsage& usage, std::string_view tres, Time now,
                              Seconds half_life, Time since);

// Use that was over at `ended`, and is worth so much then.
struct Used {
  std::string tres;
  fairness::Amount amount;
};

// The usage with that added. `at_once`: it counts for ranks from now on, not from the next time they are made.
AssociationUsage added(AssociationUsage usage, const std::vector<Used>& used, Time ended,
                       bool at_once, Seconds calc_period, Seconds half_life, Time since);

// What both come to, under the number of the first.
AssociationUsage merged(AssociationUsage usage, const AssociationUsage& other, Seconds half_life,
                        Time since);

// Nothing, and what was used before `now` never counts again.
AssociationUsage reset(AssociationId id, Time now);

// Never below nothing. As it is where it was reset since the correction was made.
AssociationUsage corrected(AssociationUsage usage, const UsageCorrection& correction,
                           Seconds calc_period, Seconds half_life, Time since);

}  // namespace ares::core
