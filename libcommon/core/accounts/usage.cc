#include "core/accounts/usage.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/accounts/roster.h"
#include "core/fairness/priority.h"
#include "model/gpu_part.h"
#include "model/holding.h"

namespace ares::core {
namespace {

using fairness::Amount;

Amount amount_of(const UsageUnits& units) {
  return {fairness::U128{units.high} << 64 | units.low};
}

UsageUnits units_of(Amount amount) {
  return {static_cast<std::uint64_t>(amount.units >> 64), static_cast<std::uint64_t>(amount.units)};
}

Time bucket_of(Time at, Seconds period) {
  const Duration length = std::max<Duration>(period, Seconds(1));
  return Time(at.time_since_epoch() / length * length);
}

Amount decayed_to(const UsageUnits& units, Time from, Time to, Seconds half_life) {
  if (units == UsageUnits{}) return {};  // most have nothing that is recent
  return fairness::decayed(amount_of(units), fairness::decay_factor(to - from, half_life));
}

UsageRow& row_for(AssociationUsage& usage, const std::string& tres) {
  const auto at = std::lower_bound(
      usage.rows.begin(), usage.rows.end(), tres,
      [](const UsageRow& row, const std::string& name) { return row.tres < name; });
  if (at != usage.rows.end() && at->tres == tres) return *at;
  return *usage.rows.insert(at, {tres, {}, {}});
}

// What is older than the bucket becomes what is settled.
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

// What is worth `amount` after that time had passed: 2^(elapsed/h) as often 2 and 2^-(1 - the rest) as it takes.
Amount before_decay(Amount amount, Duration elapsed, Seconds half_life) {
  if (elapsed <= Duration::zero() || half_life <= Seconds::zero()) return amount;
  const Duration half(half_life);
  const auto whole = elapsed / half;
  if (whole >= 32) return amount;  // nobody is told of the end of a job that much later
  amount.units <<= static_cast<int>(whole) + 1;
  return fairness::decayed(amount, fairness::decay_factor(half - elapsed % half, half_life));
}

// What a job is charged while it works and while it is suspended, with what that is billed as; in thousandths of thousandths.
struct Rates {
  TresSeconds working, still;
};
Rates rates_of(const ClusterState& state, const Fairness& rules, const Job& job) {
  Rates rates{held_thousandths(state, job), {}};
  rates.still = rates.working;
  rates.still["cpu"] = 0;
  const TresWeights& weights =
      billing_weights(rules, state.partitions.find(job.allocation->partition));
  for (TresSeconds* amounts : {&rates.working, &rates.still})
    (*amounts)["billing"] = fairness::billing(*amounts, weights, rules.billing);
  rates.working["wall"] = kWholeGpu;  // the time that it works, whatever it holds
  rates.still["wall"] = 0;
  const std::uint64_t factor = usage_factor(state.accounting, *job.spec);
  for (TresSeconds* amounts : {&rates.working, &rates.still})
    for (auto& [tres, rate] : *amounts) rate = capped_product(rate, factor);
  return rates;
}

// Of such a rate.
Amount used(std::uint64_t millionths, Time from, Time to, Seconds half_life) {
  Amount amount = fairness::accrued(millionths, from, to, to, half_life);
  amount.units /= kWholeGpu * kPlainFactor;
  return amount;
}

}  // namespace

std::uint64_t usage_factor(const Accounting& records, const JobSpec& spec) {
  const Qos* qos =
      records.empty() ? nullptr : find_qos(records, spec.qos.empty() ? kNormalQos : spec.qos);
  return qos ? qos->usage_factor : kPlainFactor;
}

const Fairness& rules_of(const Policy& policy) {
  static const Fairness kDefaults;
  return policy.fairness.value ? *policy.fairness.value : kDefaults;
}

TresSeconds held_thousandths(const ClusterState& state, const Job& job) {
  TresSeconds held;
  for (const TresAmount& one : tres_of(*job.allocation))
    if (one.tres != "billing")
      held[one.tres] = one.tres.starts_with("gres/gpu")
                           ? one.amount
                           : capped_product<std::uint64_t>(one.amount, kWholeGpu);
  if (!job.allocation->tres.empty() || !held.contains("gres/gpu")) return held;
  // It began under a release that did not note the types.
  for (const NodeShare& share : job.allocation->nodes) {
    const Node* node = share.gpus.empty() ? nullptr : state.nodes.find(share.node);
    if (!node) continue;
    for (const Gpu& gpu : node->inventory.gpus)
      if (std::binary_search(share.gpus.begin(), share.gpus.end(), gpu.index))
        held["gres/gpu:" + gpu.type] += held_of_each(share.gpu_part);
  }
  return held;
}

namespace {

// One attempt that lets go of everything now, as it is added to usage.
struct Bill {
  Time from{}, worked_from{}, now{};
  Rates rates;
  Seconds half_life{}, period{};
};

Bill bill_of(const ClusterState& state, const Fairness& rules, const Job& job, Time now) {
  Bill bill{job.allocation->at, {}, now, rates_of(state, rules, job), rules.half_life,
            rules.calc_period};
  bill.worked_from = std::min(now, bill.from + suspended_for(job, now));
  return bill;
}

// What that is worth at its end.
Amount worth(const Bill& bill, const std::string& tres, std::uint64_t rate) {
  const Amount amount = used(rate, bill.worked_from, bill.now, bill.half_life);
  if (bill.worked_from <= bill.from) return amount;
  const Amount still = used(bill.rates.still.at(tres), bill.from, bill.worked_from, bill.half_life);
  return amount + fairness::decayed(
                      still, fairness::decay_factor(bill.now - bill.worked_from, bill.half_life));
}

AssociationUsage added(const ClusterState& state, AssociationId id, const Bill& bill,
                       const Job& job) {
  const AssociationUsage* before = state.usage.find(id);
  AssociationUsage usage = before ? *before : AssociationUsage{};
  usage.id = id;
  settle(usage, bucket_of(bill.now, bill.period), bill.half_life);
  // Whoever ended before the moment of ranking counts no more as running, so it counts here at once. So does what runs again: its
  // record says nothing of this attempt from now on.
  const bool again = job.ending && job.ending->requeue;
  const bool settled = again || (job.ended && *job.ended <= usage.settled_at);
  const Time at = std::max(bill.now, usage.recent_at);
  for (UsageRow& row : usage.rows)
    row.recent = units_of(decayed_to(row.recent, usage.recent_at, at, bill.half_life));
  usage.recent_at = at;
  for (const auto& [tres, rate] : bill.rates.working) {
    const Amount amount = worth(bill, tres, rate);
    UsageRow& row = row_for(usage, tres);
    if (settled)
      row.settled = units_of(amount_of(row.settled) +
                             before_decay(amount, bill.now - usage.settled_at, bill.half_life));
    else
      row.recent = units_of(amount_of(row.recent) + amount);
  }
  return usage;
}

}  // namespace

std::optional<UsageCharged> charge_for(const ClusterState& state, const Policy& policy,
                                       const Job& job, Time now) {
  if (state.accounting.empty() || !job.allocation) return std::nullopt;
  const Association* whose = find_association(state.accounting, job.spec->account, job.spec->user,
                                              job.allocation->partition);
  if (!whose) return std::nullopt;
  const Bill bill = bill_of(state, rules_of(policy), job, now);
  UsageCharged charged{{job.key, job.attempt}, added(state, whose->id, bill, job), std::nullopt};
  if (const Qos* qos =
          find_qos(state.accounting, job.spec->qos.empty() ? kNormalQos : job.spec->qos))
    charged.of_qos = added(state, usage_id(*qos), bill, job);
  return charged;
}

Amount usage_at(const AssociationUsage& usage, std::string_view tres, Time moment,
                Seconds half_life) {
  const auto row =
      std::lower_bound(usage.rows.begin(), usage.rows.end(), tres,
                       [](const UsageRow& one, std::string_view name) { return one.tres < name; });
  if (row == usage.rows.end() || row->tres != tres) return {};
  Amount sum = decayed_to(row->settled, usage.settled_at, moment, half_life);
  if (moment > usage.settled_at)
    sum = sum + decayed_to(row->recent, usage.recent_at, moment, half_life);
  return sum;
}

std::map<std::string, Amount> used_so_far(const ClusterState& state, const Policy& policy,
                                          const Job& job, Time now) {
  std::map<std::string, Amount> sums;
  if (!job.allocation || now <= job.allocation->at) return sums;
  const Bill bill = bill_of(state, rules_of(policy), job, now);
  for (const auto& [tres, rate] : bill.rates.working) sums[tres] = worth(bill, tres, rate);
  return sums;
}

Amount billed_so_far(const ClusterState& state, const Policy& policy, const Job& job, Time now) {
  if (!job.allocation || now <= job.allocation->at) return {};
  const Bill bill = bill_of(state, rules_of(policy), job, now);
  return worth(bill, "billing", bill.rates.working.at("billing"));
}

}  // namespace ares::core
