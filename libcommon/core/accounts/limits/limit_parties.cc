#include "core/accounts/limits/limit_parties.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/accounts/usage/charge.h"

namespace ares::core {
namespace {

constexpr std::array<SharedKind, 20> kShared{{
    {LimitKind::grp_jobs, Measure::running, Whose::all},
    {LimitKind::grp_jobs_accrue, Measure::accruing, Whose::all},
    {LimitKind::grp_submit_jobs, Measure::submitted, Whose::all},
    {LimitKind::grp_tres, Measure::tres, Whose::all},
    {LimitKind::grp_tres_mins, Measure::used_minutes, Whose::all},
    {LimitKind::grp_tres_run_mins, Measure::run_minutes, Whose::all},
    {LimitKind::grp_wall, Measure::used_minutes, Whose::all},
    {LimitKind::max_jobs, Measure::running, Whose::user},
    {LimitKind::max_jobs_accrue, Measure::accruing, Whose::user},
    {LimitKind::max_submit_jobs, Measure::submitted, Whose::user},
    {LimitKind::max_jobs_per_user, Measure::running, Whose::user},
    {LimitKind::max_jobs_per_account, Measure::running, Whose::account},
    {LimitKind::max_jobs_accrue_per_user, Measure::accruing, Whose::user},
    {LimitKind::max_jobs_accrue_per_account, Measure::accruing, Whose::account},
    {LimitKind::max_submit_jobs_per_user, Measure::submitted, Whose::user},
    {LimitKind::max_submit_jobs_per_account, Measure::submitted, Whose::account},
    {LimitKind::max_tres_per_user, Measure::tres, Whose::user},
    {LimitKind::max_tres_per_account, Measure::tres, Whose::account},
    {LimitKind::max_tres_run_mins_per_user, Measure::run_minutes, Whose::user},
    {LimitKind::max_tres_run_mins_per_account, Measure::run_minutes, Whose::account},
}};

// A QOS's limit on each user's jobs comes before that of his accounts, as the nearest of one kind.
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

const std::vector<LimitParties::Level>& LimitParties::levels_of(const UsageKey& usage_key) {
  const auto [found, added] = levels_.try_emplace(usage_key);
  std::vector<Level>& levels = found->second;
  if (!added) return levels;
  using Kind = Level::Kind;
  const Chain chain = chain_of(records_, usage_key.account, usage_key.user, usage_key.partition);
  if (chain.user)
    levels.push_back({Kind::association, usage_key.account, usage_key.user, chain.user->id});
  for (const Account* account : chain.accounts)
    levels.push_back({Kind::account, account->name, {}, account->id});
  const Partition* partition = partitions_.find(usage_key.partition);
  for (const Qos* qos : binding_qos(records_, usage_key.qos, partition).in_order()) {
    if (!qos) break;
    const AssociationId id = usage_id(*qos);
    levels.push_back({Kind::qos, qos->name, {}, id});
    levels.push_back({Kind::qos_user, qos->name, usage_key.user, id});
    levels.push_back({Kind::qos_account, qos->name, usage_key.account, id});
  }
  return levels;
}

const LimitParties::Party& LimitParties::party_of(const UsageKey& usage_key) {
  const auto [found, added] = parties_.try_emplace(usage_key);
  Party& party = found->second;
  if (!added) return party;
  const BindingQos binding =
      binding_qos(records_, usage_key.qos, partitions_.find(usage_key.partition));
  const Chain chain = chain_of(records_, usage_key.account, usage_key.user, usage_key.partition);
  const std::vector<Level>& levels = levels_of(usage_key);
  party.factor = binding.own ? binding.own->usage_factor : kPlainFactor;
  using Kind = Level::Kind;
  const auto level = [&](Kind kind, const std::string& name) {
    const auto at = std::find_if(levels.begin(), levels.end(), [&](const Level& one) {
      return one.kind == kind && one.name == name;
    });
    return at == levels.end() ? nullptr : &*at;
  };
  std::set<std::pair<LimitKind, std::string>> seen;
  // `qos`: whose limits they are; null: an account's or user's.
  const auto add = [&](const Limits& limits, const std::string& whose, const Level* own,
                       const Qos* qos) {
    for (const Limit& limit : limits) {
      const SharedKind* kind = shared_kind(limit.kind);
      if (!kind) continue;
      if (kind->whose != Whose::all && !seen.emplace(family_of(limit.kind), limit.tres).second)
        continue;
      const Level* on = kind->whose == Whose::all       ? own
                        : kind->whose == Whose::account ? level(Kind::qos_account, qos->name)
                        : qos                           ? level(Kind::qos_user, qos->name)
                              : level(Kind::association, usage_key.account);
      const std::string of =
          qos && qos == binding.of_partition ? usage_key.partition : std::string();
      LimitScale scale = qos ? qos_scale(limit, *qos, of) : account_scale(limit, binding.own);
      if (on) party.bounds.push_back({&limit, std::move(scale), kind, *on, whose, qos != nullptr});
    }
  };
  for (const Qos* qos : binding.in_order()) {
    if (!qos) break;
    party.deny = party.deny || qos->has(QosFlag::deny_on_limit);
    const std::string whose = whose_text(*qos, binding, usage_key.partition);
    add(qos->limits, whose, level(Kind::qos, qos->name), qos);
    if (has_threshold(*qos)) party.thresholds.emplace_back(qos, whose);
  }
  if (chain.user)
    add(chain.user->terms.limits, chain.user->key.user, level(Kind::association, usage_key.account),
        nullptr);
  for (const Account* account : chain.accounts)
    add(account->terms.limits, account->name, level(Kind::account, account->name), nullptr);
  return party;
}

}  // namespace ares::core
