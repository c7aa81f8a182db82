#include "core/accounts/limits/applicable_limits.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/accounts/usage/charge.h"

namespace ares::core {
namespace {

constexpr std::array<SharedKind, 20> kShared{{
    {LimitKind::grp_jobs, Measure::running, CountedPer::all},
    {LimitKind::grp_jobs_accrue, Measure::accruing, CountedPer::all},
    {LimitKind::grp_submit_jobs, Measure::submitted, CountedPer::all},
    {LimitKind::grp_tres, Measure::tres, CountedPer::all},
    {LimitKind::grp_tres_mins, Measure::used_minutes, CountedPer::all},
    {LimitKind::grp_tres_run_mins, Measure::run_minutes, CountedPer::all},
    {LimitKind::grp_wall, Measure::used_minutes, CountedPer::all},
    {LimitKind::max_jobs, Measure::running, CountedPer::user},
    {LimitKind::max_jobs_accrue, Measure::accruing, CountedPer::user},
    {LimitKind::max_submit_jobs, Measure::submitted, CountedPer::user},
    {LimitKind::max_jobs_per_user, Measure::running, CountedPer::user},
    {LimitKind::max_jobs_per_account, Measure::running, CountedPer::account},
    {LimitKind::max_jobs_accrue_per_user, Measure::accruing, CountedPer::user},
    {LimitKind::max_jobs_accrue_per_account, Measure::accruing, CountedPer::account},
    {LimitKind::max_submit_jobs_per_user, Measure::submitted, CountedPer::user},
    {LimitKind::max_submit_jobs_per_account, Measure::submitted, CountedPer::account},
    {LimitKind::max_tres_per_user, Measure::tres, CountedPer::user},
    {LimitKind::max_tres_per_account, Measure::tres, CountedPer::account},
    {LimitKind::max_tres_run_mins_per_user, Measure::run_minutes, CountedPer::user},
    {LimitKind::max_tres_run_mins_per_account, Measure::run_minutes, CountedPer::account},
}};

// A QOS limit on each user's jobs replaces that of the user's accounts, as the nearest of its kind.
LimitKind family_of(LimitKind kind) {
  if (kind == LimitKind::max_jobs_per_user) return LimitKind::max_jobs;
  if (kind == LimitKind::max_jobs_accrue_per_user) return LimitKind::max_jobs_accrue;
  if (kind == LimitKind::max_submit_jobs_per_user) return LimitKind::max_submit_jobs;
  return kind;
}

bool has_threshold(const Qos& qos) {
  return qos.has(QosFlag::enforce_usage_threshold) && qos.usage_threshold > 0;
}

template <class Wanted>
bool any_limit(const Accounting& records, const Partition* partition, Enforce enforce,
               const UsageKey& who, Wanted&& wanted) {
  if (enforce < Enforce::limits || records.empty()) return false;
  const auto has = [&](const Limits& limits) {
    return std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) {
      const SharedKind* kind = shared_kind(limit.kind);
      return kind && wanted(kind->measure);
    });
  };
  const auto binding = binding_qos(records, who.qos, partition).in_order();
  bool any = std::any_of(binding.begin(), binding.end(),
                         [&](const Qos* qos) { return qos && has(qos->limits); });
  if (!any)
    each_terms(chain_of(records, who.account, who.user, who.partition),
               [&](const Terms& terms, const std::string&) {
                 any = has(terms.limits);
                 return !any;
               });
  return any;
}

}  // namespace

const SharedKind* shared_kind(LimitKind kind) {
  for (const SharedKind& row : kShared)
    if (row.kind == kind) return &row;
  return nullptr;
}

bool has_shared_limits(const Accounting& records, Enforce enforce, const JobSpec& spec,
                       const Partition& partition) {
  if (enforce < Enforce::limits || records.empty()) return false;
  const auto binding = binding_qos(records, qos_name(spec), &partition).in_order();
  if (std::any_of(binding.begin(), binding.end(), [](const Qos* qos) {
        return qos && (has_threshold(*qos) || qos->has(QosFlag::relative));
      }))
    return true;
  return any_limit(records, &partition, enforce, usage_key_of(spec, partition.name),
                   [](Measure measure) {
                     return measure != Measure::submitted && measure != Measure::accruing;
                   });
}

bool has_limits_on(Measure measure, const Accounting& records, const Partitions& partitions,
                   Enforce enforce, const UsageKey& who) {
  return any_limit(records, partitions.find(who.partition), enforce, who,
                   [&](Measure its) { return its == measure; });
}

UsageKey usage_key_of(const JobSpec& spec, const std::string& partition) {
  return {spec.account, spec.user, std::string(qos_name(spec)), partition};
}

const std::vector<ApplicableLimits::LimitScope>& ApplicableLimits::scopes_of(
    const UsageKey& usage_key) {
  const auto [found, added] = scopes_.try_emplace(usage_key);
  std::vector<LimitScope>& scopes = found->second;
  if (!added) return scopes;
  using Kind = LimitScope::Kind;
  const Chain chain = chain_of(records_, usage_key.account, usage_key.user, usage_key.partition);
  if (chain.user)
    scopes.push_back({Kind::association, usage_key.account, usage_key.user, chain.user->id});
  for (const Account* account : chain.accounts)
    scopes.push_back({Kind::account, account->name, {}, account->id});
  const Partition* partition = partitions_.find(usage_key.partition);
  for (const Qos* qos : binding_qos(records_, usage_key.qos, partition).in_order()) {
    if (!qos) break;
    const AssociationId id = usage_id(*qos);
    scopes.push_back({Kind::qos, qos->name, {}, id});
    scopes.push_back({Kind::qos_user, qos->name, usage_key.user, id});
    scopes.push_back({Kind::qos_account, qos->name, usage_key.account, id});
  }
  return scopes;
}

const ApplicableLimits::LimitSet& ApplicableLimits::limits_for(const UsageKey& usage_key) {
  const auto [found, added] = limit_sets_.try_emplace(usage_key);
  LimitSet& limit_set = found->second;
  if (!added) return limit_set;
  const BindingQos binding =
      binding_qos(records_, usage_key.qos, partitions_.find(usage_key.partition));
  const Chain chain = chain_of(records_, usage_key.account, usage_key.user, usage_key.partition);
  const std::vector<LimitScope>& scopes = scopes_of(usage_key);
  limit_set.factor = binding.own ? binding.own->usage_factor : kPlainFactor;
  using Kind = LimitScope::Kind;
  const auto scope = [&](Kind kind, const std::string& name) {
    const auto at = std::find_if(scopes.begin(), scopes.end(), [&](const LimitScope& one) {
      return one.kind == kind && one.name == name;
    });
    return at == scopes.end() ? nullptr : &*at;
  };
  std::set<std::pair<LimitKind, std::string>> seen;
  // `qos`: the QOS that has the limits; null: an account or user has them.
  const auto add = [&](const Limits& limits, const std::string& whose, const LimitScope* own,
                       const Qos* qos) {
    for (const Limit& limit : limits) {
      const SharedKind* kind = shared_kind(limit.kind);
      if (!kind) continue;
      if (kind->per != CountedPer::all && !seen.emplace(family_of(limit.kind), limit.tres).second)
        continue;
      const LimitScope* on = kind->per == CountedPer::all ? own
                             : kind->per == CountedPer::account
                                 ? scope(Kind::qos_account, qos->name)
                             : qos ? scope(Kind::qos_user, qos->name)
                                   : scope(Kind::association, usage_key.account);
      const std::string of =
          qos && qos == binding.of_partition ? usage_key.partition : std::string();
      LimitScale scale = qos ? qos_scale(limit, *qos, of) : account_scale(limit, binding.own);
      if (on)
        limit_set.bounds.push_back({&limit, std::move(scale), kind, *on, whose, qos != nullptr});
    }
  };
  for (const Qos* qos : binding.in_order()) {
    if (!qos) break;
    limit_set.deny = limit_set.deny || qos->has(QosFlag::deny_on_limit);
    const std::string whose = qos_text(*qos, binding, usage_key.partition);
    add(qos->limits, whose, scope(Kind::qos, qos->name), qos);
    if (has_threshold(*qos)) limit_set.thresholds.emplace_back(qos, whose);
  }
  if (chain.user)
    add(chain.user->terms.limits, chain.user->key.user, scope(Kind::association, usage_key.account),
        nullptr);
  for (const Account* account : chain.accounts)
    add(account->terms.limits, account->name, scope(Kind::account, account->name), nullptr);
  return limit_set;
}

}  // namespace ares::core
