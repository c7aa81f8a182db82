#include "core/sched/queue/stored_use.h"

#include <algorithm>

namespace ares::core::sched {
namespace {

bool same_at(Time moment, const AssociationUsage& was, const AssociationUsage& is, Time since,
             Seconds half_life) {
  if (was.since != is.since) return false;
  since = std::max(since, is.since);
  const auto same = [&](const UsageRow& row) {
    return usage_at(was, row.tres, moment, half_life, since) ==
           usage_at(is, row.tres, moment, half_life, since);
  };
  return std::all_of(was.rows.begin(), was.rows.end(), same) &&
         std::all_of(is.rows.begin(), is.rows.end(), same);
}

}  // namespace

void StoredUse::fill(const ClusterState& state,
                     const std::vector<AssociationNode>& association_nodes) {
  rows_.clear();
  rows_.reserve(association_nodes.size());
  resets_ = 0;
  CowMap<AssociationId, AssociationUsage>::NearbyLookup usages(state.usage);
  for (const auto& [id, at] : association_nodes) {
    rows_.push_back({id, at, {}, {}});
    put(rows_.back(), usages.find(id));
  }
}

bool StoredUse::update(const ClusterState& before, const ClusterState& after, Time moment,
                       Seconds half_life) {
  bool changed = before.usage_since != after.usage_since;
  CowMap<AssociationId, AssociationUsage>::diff(
      before.usage, after.usage,
      [&](AssociationId id, const AssociationUsage* was, const AssociationUsage* is) {
        const auto row =
            std::lower_bound(rows_.begin(), rows_.end(), id,
                             [](const Row& one, AssociationId wanted) { return one.id < wanted; });
        if (row == rows_.end() || row->id != id) return;
        put(*row, is);
        static const AssociationUsage kNone;
        changed = changed || !same_at(moment, was ? *was : kNone, is ? *is : kNone,
                                      after.usage_since, half_life);
      });
  return changed;
}

void StoredUse::put(Row& row, const AssociationUsage* usage) {
  if (row.since != Time{}) --resets_;
  row.since = usage ? usage->since : Time{};
  if (row.since != Time{}) ++resets_;
  row.parts = usage ? parts_of(*usage, "billing") : UsageParts{};
}

void StoredUse::add_to(std::span<fairness::Amount> by_node, Time moment, Time since,
                       Seconds half_life) const {
  // Settled usage was brought to the same few times, so factors repeat.
  fairness::DecayFactors factors(half_life);
  for (const Row& row : rows_) {
    fairness::Amount& sum = by_node[row.at];
    sum = sum + worth_at(row.parts, moment, std::max(since, row.since),
                         [&](Duration elapsed) { return factors.of(elapsed); });
  }
}

}  // namespace ares::core::sched
