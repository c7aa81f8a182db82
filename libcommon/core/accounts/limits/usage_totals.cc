#include "core/accounts/limits/usage_totals.h"

namespace ares::core {

ApplicableLimits& UsageTotals::applicable_limits(const ClusterState& state) {
  if (applicable_limits_ && records_.shares_all_with(state.accounting) &&
      partitions_.shares_all_with(state.partitions))
    return *applicable_limits_;
  records_ = state.accounting;
  partitions_ = state.partitions;
  applicable_limits_ = std::make_unique<ApplicableLimits>(records_, partitions_);
  counted_ = {};
  sums_.clear();
  return *applicable_limits_;
}

void UsageTotals::update(const ClusterState& state) {
  applicable_limits(state);
  CowMap<UsageKey, CurrentUsage>::diff(
      counted_, state.current_usage,
      [&](const UsageKey& usage_key, const CurrentUsage* was, const CurrentUsage* is) {
        if (is) add(usage_key, *is);
        if (was) subtract(usage_key, *was);
      });
  counted_ = state.current_usage;
}

const UsageTotals::Sum& UsageTotals::of(const LimitScope& scope) const {
  static const Sum kNothing;
  const auto found = sums_.find(scope);
  return found == sums_.end() ? kNothing : found->second;
}

void UsageTotals::add(const UsageKey& usage_key, const CurrentUsage& usage) {
  for (const LimitScope& scope : applicable_limits_->scopes_of(usage_key)) {
    Sum& sum = sums_[scope];
    sum.running += usage.running;
    sum.submitted += usage.submitted;
    sum.accruing += usage.accruing;
    add_tres(sum.tres, usage.tres);
  }
}

void UsageTotals::subtract(const UsageKey& usage_key, const CurrentUsage& usage) {
  for (const LimitScope& scope : applicable_limits_->scopes_of(usage_key)) {
    const auto found = sums_.find(scope);
    if (found == sums_.end()) continue;
    Sum& sum = found->second;
    sum.running -= usage.running;
    sum.submitted -= usage.submitted;
    sum.accruing -= usage.accruing;
    subtract_tres(sum.tres, usage.tres);
    if (sum == Sum{}) sums_.erase(found);
  }
}

}  // namespace ares::core
