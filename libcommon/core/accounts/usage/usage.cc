#include "core/accounts/usage/usage.h"

#include <algorithm>

namespace ares::core {
namespace {

using fairness::Amount;

Amount amount_of(const UsageUnits& units) {
  return {fairness::U128{units.high} << 64 | units.low};
}

Time bucket_of(Time at, Seconds period) {
  const Duration length = std::max<Duration>(period, Seconds(1));
  return Time(at.time_since_epoch() / length * length);
}

Amount decayed_to(const UsageUnits& units, Time from, Time to, Seconds half_life) {
  return fairness::decayed(amount_of(units), fairness::decay_factor(to - from, half_life));
}

UsageRow& row_for(AssociationUsage& usage, const std::string& tres) {
  const auto at = std::lower_bound(
      usage.rows.begin(), usage.rows.end(), tres,
      [](const UsageRow& row, const std::string& name) { return row.tres < name; });
  if (at != usage.rows.end() && at->tres == tres) return *at;
  return *usage.rows.insert(at, {tres, {}, {}});
}

// Moves everything older than the bucket into the settled part.
void settle(AssociationUsage& usage, Time bucket, Seconds half_life) {
  if (bucket <= usage.settled_at) return;
  for (UsageRow& row : usage.rows) {
    row.settled = units_of(decayed_to(row.settled, usage.settled_at, bucket, half_life) +
                           decayed_to(row.recent, usage.recent_at, bucket, half_life));
    row.recent = {};
  }
  usage.settled_at = bucket;
  usage.recent_at = bucket;
}

// Decays both parts to these times, unless they are later already.
void bring_to(AssociationUsage& usage, Time settled_at, Time recent_at, Seconds half_life) {
  for (UsageRow& row : usage.rows) {
    if (settled_at > usage.settled_at)
      row.settled = units_of(decayed_to(row.settled, usage.settled_at, settled_at, half_life));
    if (recent_at > usage.recent_at)
      row.recent = units_of(decayed_to(row.recent, usage.recent_at, recent_at, half_life));
  }
  usage.settled_at = std::max(usage.settled_at, settled_at);
  usage.recent_at = std::max(usage.recent_at, recent_at);
}

// Clears the parts to which nothing was added after the reset at `since`.
void clear_before(AssociationUsage& usage, Time since) {
  if (usage.settled_at < since) {
    for (UsageRow& row : usage.rows) row.settled = {};
    usage.settled_at = since;
  }
  if (usage.recent_at < since) {
    for (UsageRow& row : usage.rows) row.recent = {};
    usage.recent_at = since;
  }
  std::erase_if(usage.rows, [](const UsageRow& row) {
    return row.settled == UsageUnits{} && row.recent == UsageUnits{};
  });
}

// Inverse of decay: doubles once too often, then decays by the rest of the last half-life.
Amount before_decay(Amount amount, Duration elapsed, Seconds half_life) {
  if (elapsed <= Duration::zero() || half_life <= Seconds::zero()) return amount;
  const Duration half(half_life);
  const auto whole = elapsed / half;
  if (whole >= 32) return amount;  // no end of a job is reported that late
  amount.units <<= static_cast<int>(whole) + 1;
  return fairness::decayed(amount, fairness::decay_factor(half - elapsed % half, half_life));
}

// The worth at `to` of what is worth `amount` at `from`.
Amount as_of(Amount amount, Time from, Time to, Seconds half_life) {
  if (to < from) return before_decay(amount, from - to, half_life);
  return fairness::decayed(amount, fairness::decay_factor(to - from, half_life));
}

// Subtracts `amount` as far as possible and returns the rest.
Amount take(UsageUnits& from, Amount amount) {
  const Amount there = amount_of(from);
  const Amount taken{std::min(there.units, amount.units)};
  from = units_of({there.units - taken.units});
  return {amount.units - taken.units};
}

}  // namespace

UsageUnits units_of(Amount amount) {
  return {static_cast<std::uint64_t>(amount.units >> 64), static_cast<std::uint64_t>(amount.units)};
}

Time counted_from(const ClusterState& state, AssociationId id) {
  const AssociationUsage* usage = state.usage.find(id);
  return usage ? std::max(state.usage_since, usage->since) : state.usage_since;
}

UsageParts parts_of(const AssociationUsage& usage, std::string_view tres) {
  const auto row =
      std::lower_bound(usage.rows.begin(), usage.rows.end(), tres,
                       [](const UsageRow& one, std::string_view name) { return one.tres < name; });
  if (row == usage.rows.end() || row->tres != tres) return {};
  return {amount_of(row->settled), usage.settled_at, amount_of(row->recent), usage.recent_at};
}

Amount usage_at(const AssociationUsage& usage, std::string_view tres, Time moment,
                Seconds half_life, Time since) {
  return worth_at(parts_of(usage, tres), moment, since,
                  [&](Duration elapsed) { return fairness::decay_factor(elapsed, half_life); });
}

Amount all_usage_at(const AssociationUsage& usage, std::string_view tres, Time now,
                    Seconds half_life, Time since) {
  return usage_at(usage, tres, std::max(now, usage.settled_at + Duration{1}), half_life, since);
}

AssociationUsage added(AssociationUsage usage, const std::vector<Used>& used, Time ended,
                       bool at_once, Seconds calc_period, Seconds half_life, Time since) {
  clear_before(usage, std::max(since, usage.since));
  settle(usage, bucket_of(ended, calc_period), half_life);
  bring_to(usage, usage.settled_at, ended, half_life);
  for (const Used& one : used) {
    UsageRow& row = row_for(usage, one.tres);
    if (at_once)
      row.settled = units_of(amount_of(row.settled) +
                             before_decay(one.amount, ended - usage.settled_at, half_life));
    else
      row.recent = units_of(amount_of(row.recent) + one.amount);
  }
  return usage;
}

AssociationUsage merged(AssociationUsage usage, const AssociationUsage& other, Seconds half_life,
                        Time since) {
  AssociationUsage joining = other;
  clear_before(usage, std::max(since, usage.since));
  clear_before(joining, std::max(since, other.since));
  settle(usage, joining.settled_at, half_life);
  settle(joining, usage.settled_at, half_life);
  bring_to(usage, usage.settled_at, joining.recent_at, half_life);
  bring_to(joining, usage.settled_at, usage.recent_at, half_life);
  for (const UsageRow& row : joining.rows) {
    UsageRow& sum = row_for(usage, row.tres);
    sum.settled = units_of(amount_of(sum.settled) + amount_of(row.settled));
    sum.recent = units_of(amount_of(sum.recent) + amount_of(row.recent));
  }
  return usage;
}

AssociationUsage reset(AssociationId id, Time now) {
  return {id, now, now, now, {}};
}

AssociationUsage corrected(AssociationUsage usage, const UsageCorrection& correction,
                           Seconds calc_period, Seconds half_life, Time since) {
  const Time at = correction.at;
  if (at < std::max(since, usage.since)) return usage;
  clear_before(usage, std::max(since, usage.since));
  settle(usage, bucket_of(at, calc_period), half_life);
  bring_to(usage, usage.settled_at, at, half_life);
  UsageRow& row = row_for(usage, correction.tres);
  const Amount amount = as_of(amount_of(correction.amount), at, usage.settled_at, half_life);
  if (correction.take) {
    const Amount missing = take(row.settled, amount);
    take(row.recent, as_of(missing, usage.settled_at, usage.recent_at, half_life));
  } else {
    row.settled = units_of(amount_of(row.settled) + amount);
  }
  return usage;
}

}  // namespace ares::core
