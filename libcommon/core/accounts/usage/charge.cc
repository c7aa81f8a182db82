#include "core/accounts/usage/charge.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/accounts/binding_qos.h"
#include "core/accounts/usage/usage.h"
#include "core/fairness/priority.h"
#include "core/state/timers.h"
#include "model/accounts/current_usage.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

using fairness::Amount;

// One attempt as it is added to usage. Rates are in thousandths of thousandths.
struct Bill {
  Time from{}, worked_from{}, to{};
  TresSeconds working, still;
};

Bill bill_of(const PastAttempt& attempt) {
  Bill bill{attempt.allocated, {}, attempt.released, attempt.held, {}};
  bill.worked_from = std::min(bill.to, bill.from + attempt.suspended);
  bill.still = bill.working;
  bill.still["cpu"] = 0;
  const ChargedTo& charged = attempt.charged_to;
  bill.working["billing"] = charged.billing;
  bill.still["billing"] = charged.still_billing;
  bill.working["wall"] = kWholeGpu;  // time not suspended, regardless of TRES
  bill.still["wall"] = 0;
  for (TresSeconds* amounts : {&bill.working, &bill.still})
    for (auto& [tres, rate] : *amounts) rate = capped_product(rate, std::uint64_t{charged.factor});
  return bill;
}

Amount used(std::uint64_t millionths, Time from, Time to, Time at, Seconds half_life) {
  if (millionths == 0 || from >= to) return {};
  Amount amount = fairness::accrued(millionths, from, to, at, half_life);
  amount.units /= kWholeGpu * kPlainFactor;
  return amount;
}

// What the bill is worth at its end, or later.
Amount worth(const Bill& bill, const std::string& tres, Time at, Seconds half_life, Time since) {
  return used(bill.working.at(tres), std::max(bill.worked_from, since), bill.to, at, half_life) +
         used(bill.still.at(tres), std::max(bill.from, since), bill.worked_from, at, half_life);
}

PastAttempt attempt_of(const ClusterState& state, const Policy& policy, const Job& job, Time now) {
  return {job.allocation->at, now, suspended_for(job, now),
          held_thousandths(state, *job.allocation), charges_of(state, policy, job)};
}

const Wckey* wckey_of(const Accounting& records, const JobSpec& spec) {
  if (spec.wckey.empty()) return nullptr;
  const AccountingRecord* record = records.find({RecordKind::wckey, spec.wckey, spec.user, {}});
  return record ? &std::get<Wckey>(*record) : nullptr;
}

// The usage charged now: of the association recorded at the start, else of the account or of root.
std::optional<AssociationId> payer(const Accounting& records, const Job& job,
                                   const ChargedTo& charged) {
  const JobSpec& spec = *job.spec;
  if (charged.association == AssociationId{}) return std::nullopt;
  // An association for the partition may be newer; it takes precedence over the one for all.
  for (const std::string_view partition :
       {std::string_view(job.allocation->partition), std::string_view()}) {
    const Association* whose = find_association(records, spec.account, spec.user, partition);
    if (whose && whose->id == charged.association) return whose->id;
  }
  const Account* account = find_account(records, spec.account);
  const bool same =
      charged.account == AssociationId{} || (account && usage_id(*account) == charged.account);
  return usage_id(account && same ? *account : *find_account(records, kRootAccount));
}

// The usage of `id` with the bill added.
AssociationUsage with(const ClusterState& state, AssociationId id, const Bill& bill, const Job& job,
                      const Fairness& rules, Seconds half_life, Time since) {
  const AssociationUsage* before = state.usage.find(id);
  AssociationUsage usage = before ? *before : AssociationUsage{};
  usage.id = id;
  std::vector<Used> amounts;
  for (const auto& [tres, rate] : bill.working)
    amounts.push_back({tres, worth(bill, tres, bill.to, half_life, since)});
  // A job that ended before the last computation of priorities no longer counts as running, so its
  // usage counts at once. So does that of a requeued attempt, which its record no longer shows.
  const Duration period = std::max<Duration>(rules.calc_period, Seconds(1));
  const Time bucket(bill.to.time_since_epoch() / period * period);
  const bool at_once = (job.ending && job.ending->requeue) ||
                       (job.ended && *job.ended <= std::max(usage.settled_at, bucket));
  return added(std::move(usage), amounts, bill.to, at_once, rules.calc_period, half_life, since);
}

}  // namespace

const Qos* qos_of_usage(const Accounting& records, AssociationId id) {
  const Qos* found = nullptr;
  if (id == AssociationId{}) return found;
  records.for_each_from({RecordKind::qos, {}, {}, {}},
                        [&](const RecordKey& key, const AccountingRecord& record) {
                          if (key.kind != RecordKind::qos) return false;
                          const Qos& qos = std::get<Qos>(record);
                          if (usage_id(qos) == id) found = &qos;
                          return !found;
                        });
  return found;
}

std::uint64_t usage_factor(const Accounting& records, const JobSpec& spec) {
  const Qos* qos = qos_of(records, spec);
  return qos ? qos->usage_factor : kPlainFactor;
}

const Fairness& rules_of(const Policy& policy) {
  static const Fairness kDefaults;
  return policy.fairness.value ? *policy.fairness.value : kDefaults;
}

Seconds half_life_of(const Qos& qos, const Fairness& rules) {
  return qos.has(QosFlag::no_decay) ? Seconds{0} : rules.half_life;
}

TresSeconds held_thousandths(const ClusterState& state, const Allocation& allocation) {
  TresSeconds held;
  for (const TresAmount& one : tres_of(allocation))
    if (one.tres != "billing")
      held[one.tres] = one.tres.starts_with("gres/gpu")
                           ? one.amount
                           : capped_product<std::uint64_t>(one.amount, kWholeGpu);
  if (const std::uint64_t cpus = cpu_thousandths_held(allocation); cpus > 0) held["cpu"] = cpus;
  if (!allocation.tres.empty() || !held.contains("gres/gpu")) return held;
  // Started by a release that did not record the GPU types.
  for (const NodeShare& share : allocation.nodes) {
    const Node* node = share.gpus.empty() ? nullptr : state.nodes.find(share.node);
    if (!node) continue;
    for (const Gpu& gpu : node->inventory.gpus)
      if (std::binary_search(share.gpus.begin(), share.gpus.end(), gpu.index))
        held["gres/gpu:" + gpu.type] += held_of_each(share.gpu_part);
  }
  return held;
}

ChargedTo charged_to(const ClusterState& state, const Policy& policy, const JobSpec& spec,
                     const Allocation& allocation) {
  const Accounting& records = state.accounting;
  const Fairness& rules = rules_of(policy);
  ChargedTo to;
  if (const Association* whose =
          records.empty()
              ? nullptr
              : find_association(records, spec.account, spec.user, allocation.partition))
    to.association = whose->id;
  if (const Account* account = find_account(records, spec.account)) to.account = usage_id(*account);
  to.factor = kPlainFactor;
  const Partition* partition = state.partitions.find(allocation.partition);
  const BindingQos binding = binding_qos(records, qos_name(spec), partition);
  if (binding.own) {
    to.qos = usage_id(*binding.own);
    to.factor = binding.own->usage_factor;
  }
  if (binding.of_partition) to.partition_qos = usage_id(*binding.of_partition);
  if (const Wckey* wckey = wckey_of(records, spec)) to.wckey = wckey->id;
  const TresWeights& weights = billing_weights(rules, partition);
  TresSeconds held = held_thousandths(state, allocation);
  to.billing = fairness::billing(held, weights, rules.billing);
  held["cpu"] = 0;
  to.still_billing = fairness::billing(held, weights, rules.billing);
  return to;
}

ChargedTo charges_of(const ClusterState& state, const Policy& policy, const Job& job) {
  const ChargedTo& noted = job.allocation->charged_to;
  return noted == ChargedTo{} ? charged_to(state, policy, *job.spec, *job.allocation) : noted;
}

std::optional<UsageCharged> charge_for(const ClusterState& state, const Policy& policy,
                                       const Job& job, Time now) {
  if (state.accounting.empty() || !job.allocation) return std::nullopt;
  const ChargedTo charged = charges_of(state, policy, job);
  const auto whose = payer(state.accounting, job, charged);
  if (!whose) return std::nullopt;
  const Fairness& rules = rules_of(policy);
  const Bill bill = bill_of(attempt_of(state, policy, job, now));
  const auto of = [&](AssociationId id, Seconds half_life, Time since = {}) {
    return with(state, id, bill, job, rules, half_life, std::max(since, counted_from(state, id)));
  };
  // If an association was reset and then removed, the account is charged only for use since then.
  const Time since = counted_from(state, charged.association);
  UsageCharged out{{job.key, job.attempt}, of(*whose, rules.half_life, since), {}, {}, {}};
  const Qos* own = qos_of(state.accounting, *job.spec);
  const bool same = own && usage_id(*own) == charged.qos;
  if (const Qos* qos = same ? own : qos_of_usage(state.accounting, charged.qos))
    out.of_qos = of(charged.qos, half_life_of(*qos, rules));
  if (const Qos* qos = qos_of_usage(state.accounting, charged.partition_qos))
    out.of_partition_qos = of(charged.partition_qos, half_life_of(*qos, rules));
  const Wckey* wckey = wckey_of(state.accounting, *job.spec);
  if (wckey && wckey->id == charged.wckey && wckey->id != AssociationId{})
    out.of_wckey = of(wckey->id, rules.half_life);
  return out;
}

std::map<std::string, Amount> worth_of(const PastAttempt& attempt, Time at, Seconds half_life,
                                       Time since) {
  const Bill bill = bill_of(attempt);
  std::map<std::string, Amount> sums;
  for (const auto& [tres, rate] : bill.working)
    sums[tres] = worth(bill, tres, at, half_life, since);
  return sums;
}

std::map<std::string, Amount> used_so_far(const ClusterState& state, const Policy& policy,
                                          const Job& job, Time now, Seconds half_life, Time since) {
  if (!job.allocation || now <= job.allocation->at) return {};
  return worth_of(attempt_of(state, policy, job, now), now, half_life, since);
}

Amount billed_so_far(const ClusterState& state, const Policy& policy, const Job& job, Time now,
                     Time since) {
  if (!job.allocation || now <= job.allocation->at) return {};
  return worth(bill_of(attempt_of(state, policy, job, now)), "billing", now,
               rules_of(policy).half_life, since);
}

}  // namespace ares::core
