#include "core/accounts/limits/accrual_limits.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/accounts/usage/charge.h"

namespace ares::core {
namespace {

// Accruing jobs are counted under the first of their partitions.
UsageKey accrual_key(const JobSpec& spec) {
  return usage_key_of(spec, spec.partitions.empty() ? std::string() : spec.partitions.front());
}

bool is_eligible_now(const Job& job, Time now) {
  return is_queued(job) && job.eligible != Time{} && job.eligible <= now && !job.dependency_failed;
}

bool has_accrual_limit(const Limits& limits) {
  return std::any_of(limits.begin(), limits.end(), [](const Limit& limit) {
    const SharedKind* kind = shared_kind(limit.kind);
    return kind && kind->measure == Measure::accruing;
  });
}

}  // namespace

AccrualLimits::AccrualLimits(const Accounting& records, const Partitions& partitions,
                             const Policy& policy)
    : enforce_(rules_of(policy).flags.accrue_always ? Enforce::none : policy.accounting.enforce),
      records_(records),
      partitions_(partitions) {}

bool AccrualLimits::any() {
  if (any_) return *any_;
  any_ = false;
  if (enforce_ < Enforce::limits) return false;
  records_.for_each_from({}, [&](const RecordKey&, const AccountingRecord& record) {
    if (const auto* a = std::get_if<Account>(&record)) any_ = has_accrual_limit(a->terms.limits);
    if (const auto* a = std::get_if<Association>(&record))
      any_ = has_accrual_limit(a->terms.limits);
    if (const auto* q = std::get_if<Qos>(&record)) any_ = has_accrual_limit(q->limits);
    return !*any_;
  });
  return *any_;
}

bool AccrualLimits::apply_to(const JobSpec& spec) {
  if (!any()) return false;
  const auto [found, added] = known_.try_emplace(accrual_key(spec));
  if (added)
    found->second = has_limits_on(Measure::accruing, records_, partitions_, enforce_, found->first);
  return found->second;
}

std::optional<Time> accruing_since(const Job& job, AccrualLimits& limits) {
  if (job.eligible == Time{}) return std::nullopt;
  return limits.apply_to(*job.spec) ? job.accrues : job.eligible;
}

Time accrual_time(const Policy& policy, Time now) {
  const Duration period = std::max<Duration>(rules_of(policy).calc_period, Seconds(1));
  return Time(now.time_since_epoch() / period * period);
}

std::vector<Accruing> new_accruals(const ClusterState& state, const Policy& policy,
                                   AccrualLimits& limits, Time now, UsageTotals* kept) {
  std::vector<Accruing> out;
  if (!limits.any()) return out;
  std::vector<const Job*> waiting;
  state.pending.for_each([&](const JobKey& key, Lsn) {
    const Job* job = state.jobs.find(key);
    if (job && !job->accrues && is_eligible_now(*job, now) && limits.apply_to(*job->spec))
      waiting.push_back(job);
  });
  std::sort(waiting.begin(), waiting.end(), [](const Job* a, const Job* b) {
    return std::tie(a->eligible, a->key) < std::tie(b->eligible, b->key);
  });
  const Time moment = accrual_time(policy, now);
  const Time last = moment - std::max<Duration>(rules_of(policy).calc_period, Seconds(1));
  LimitUse use(state, policy, now, kept);
  std::set<UsageKey> full;
  for (const Job* job : waiting) {
    UsageKey usage_key = accrual_key(*job->spec);
    if (full.contains(usage_key)) continue;
    if (!use.may_accrue(usage_key)) {
      full.insert(std::move(usage_key));
      continue;
    }
    use.accrue(usage_key);
    out.push_back({job->key, std::max(job->eligible, last)});
  }
  return out;
}

bool may_start_to_accrue(const Job& job, const Accruing& wanted, AccrualLimits& limits,
                         LimitUse& use, Time now) {
  if (job.accrues || !is_eligible_now(job, now) || !limits.apply_to(*job.spec)) return false;
  if (wanted.since < job.eligible || wanted.since > now) return false;
  const UsageKey usage_key = accrual_key(*job.spec);
  if (!use.may_accrue(usage_key)) return false;
  use.accrue(usage_key);
  return true;
}

std::vector<Accruing> accruals_to_preserve(const ClusterState& state, AccrualLimits& before,
                                           AccrualLimits& after, Time now) {
  std::vector<Accruing> out;
  if (!after.any()) return out;
  state.pending.for_each([&](const JobKey& key, Lsn) {
    const Job* job = state.jobs.find(key);
    if (job && !job->accrues && is_eligible_now(*job, now) && after.apply_to(*job->spec) &&
        !before.apply_to(*job->spec))
      out.push_back({key, job->eligible});
  });
  return out;
}

}  // namespace ares::core
