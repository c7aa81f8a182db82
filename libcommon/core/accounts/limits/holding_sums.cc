#include "core/accounts/limits/holding_sums.h"

namespace ares::core {

LimitParties& HoldingSums::parties(const ClusterState& state) {
  if (parties_ && records_.shares_all_with(state.accounting) &&
      partitions_.shares_all_with(state.partitions))
    return *parties_;
  records_ = state.accounting;
  partitions_ = state.partitions;
  parties_ = std::make_unique<LimitParties>(records_, partitions_);
  counted_ = {};
  sums_.clear();
  return *parties_;
}

void HoldingSums::update(const ClusterState& state) {
  parties(state);
  CowMap<Holder, Holding>::diff(counted_, state.holdings,
                                [&](const Holder& holder, const Holding* was, const Holding* is) {
                                  if (is) add(holder, *is);
                                  if (was) subtract(holder, *was);
                                });
  counted_ = state.holdings;
}

const HoldingSums::Sum& HoldingSums::of(const Level& level) const {
  static const Sum kNothing;
  const auto found = sums_.find(level);
  return found == sums_.end() ? kNothing : found->second;
}

void HoldingSums::add(const Holder& holder, const Holding& holding) {
  for (const Level& level : parties_->levels_of(holder)) {
    Sum& sum = sums_[level];
    sum.running += holding.running;
    sum.submitted += holding.submitted;
    sum.accruing += holding.accruing;
    add_tres(sum.tres, holding.tres);
  }
}

void HoldingSums::subtract(const Holder& holder, const Holding& holding) {
  for (const Level& level : parties_->levels_of(holder)) {
    const auto found = sums_.find(level);
    if (found == sums_.end()) continue;
    Sum& sum = found->second;
    sum.running -= holding.running;
    sum.submitted -= holding.submitted;
    sum.accruing -= holding.accruing;
    subtract_tres(sum.tres, holding.tres);
    if (sum == Sum{}) sums_.erase(found);
  }
}

}  // namespace ares::core
