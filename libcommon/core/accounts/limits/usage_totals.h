// UsageTotals: what jobs have running, waiting and gaining age, and what TRES they hold, summed up by everybody whose jobs limits count
// together. A function of the state, remembered: brought from one state to the next it costs what has changed in between.
// Owned by whoever asks again and again (the engine, a planner); not thread-safe.
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

  // As the state's records of accounting and its partitions have them. Good until they are asked for of a state with others.
  ApplicableLimits& applicable_limits(const ClusterState& state);

  // Makes it that of the state.
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
