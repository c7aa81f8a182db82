// UsageTotals: numbers of running, submitted and accruing jobs and the TRES that they hold, summed
// up by limit scope. A cached function of the state: an update costs what changed since the last
// one. Owned by its repeated users (the engine, a planner); not thread-safe.
#pragma once

#include <map>
#include <memory>

#include "core/accounts/limits/applicable_limits.h"
#include "model/engine/state.h"

namespace ares::core {

class UsageTotals {
 public:
  using LimitScope = ApplicableLimits::LimitScope;
  struct Sum {
    std::uint64_t running = 0;
    std::uint64_t submitted = 0;
    std::uint64_t accruing = 0;
    std::vector<TresAmount> tres;
    friend bool operator==(const Sum&, const Sum&) = default;
  };

  // By the state's accounting records and partitions. Valid until called for a state with others.
  ApplicableLimits& applicable_limits(const ClusterState& state);

  // Updates the totals to those of the state.
  void update(const ClusterState& state);
  const Sum& of(const LimitScope& scope) const;

 private:
  void add(const UsageKey& usage_key, const CurrentUsage& usage);
  void subtract(const UsageKey& usage_key, const CurrentUsage& usage);

  Accounting records_;
  Partitions partitions_;
  std::unique_ptr<ApplicableLimits> applicable_limits_;
  CowMap<UsageKey, CurrentUsage> counted_;
  std::map<LimitScope, Sum> sums_;
};

}  // namespace ares::core
