#include "core/accounts/limit_parties.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/accounts/charge.h"
#include "core/accounts/job_limits.h"

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

template <class Wanted>
bool any_limit(const Accounting& records, Enforce enforce, const Holder& who, Wanted&& wanted) {
  if (enforce < Enforce::limits || records.empty()) return false;
  const auto has = [&](const Limits& limits) {
    return std::any_of(limits.begin(), limits.end(), [&](const Limit& limit) {
      const SharedKind* kind = shared_kind(limit.kind);
      return kind && wanted(kind->measure);
    });
  };
  const Qos* qos = find_qos(records, who.qos);
  bool any = qos && has(qos->limits);
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
                       const std::string& partition) {
  return any_limit(records, enforce, holder_of(spec, partition), [](Measure measure) {
    return measure != Measure::submitted && measure != Measure::accruing;
  });
}

bool has_limits_on(Measure measure, const Accounting& records, Enforce enforce, const Holder& who) {
  return any_limit(records, enforce, who, [&](Measure its) { return its == measure; });
}

Holder holder_of(const JobSpec& spec, const std::string& partition) {
  return {spec.account, spec.user, spec.qos.empty() ? std::string(kNormalQos) : spec.qos,
          partition};
}

const std::vector<LimitParties::Level>& LimitParties::levels_of(const Holder& holder) {
  const auto [found, added] = levels_.try_emplace(holder);
  std::vector<Level>& levels = found->second;
  if (!added) return levels;
  using Kind = Level::Kind;
  const Chain chain = chain_of(records_, holder.account, holder.user, holder.partition);
  if (chain.user)
    levels.push_back({Kind::association, holder.account, holder.user, chain.user->id});
  for (const Account* account : chain.accounts)
    levels.push_back({Kind::account, account->name, {}, account->id});
  if (const Qos* qos = find_qos(records_, holder.qos)) {
    const AssociationId id = usage_id(*qos);
    levels.push_back({Kind::qos, qos->name, {}, id});
    levels.push_back({Kind::qos_user, qos->name, holder.user, id});
    levels.push_back({Kind::qos_account, qos->name, holder.account, id});
  }
  return levels;
}

const LimitParties::Party& LimitParties::party_of(const Holder& holder) {
  const auto [found, added] = parties_.try_emplace(holder);
  Party& party = found->second;
  if (!added) return party;
  const Qos* qos = find_qos(records_, holder.qos);
  const Chain chain = chain_of(records_, holder.account, holder.user, holder.partition);
  const std::vector<Level>& levels = levels_of(holder);
  party.deny = qos && qos->has(QosFlag::deny_on_limit);
  party.factor = qos ? qos->usage_factor : kPlainFactor;
  using Kind = Level::Kind;
  const auto level = [&](Kind kind) {
    const auto at = std::find_if(levels.begin(), levels.end(),
                                 [&](const Level& one) { return one.kind == kind; });
    return at == levels.end() ? nullptr : &*at;
  };
  std::set<std::pair<LimitKind, std::string>> seen;
  const auto add = [&](const Limits& limits, const std::string& whose, const Level* own,
                       bool is_qos) {
    for (const Limit& limit : limits) {
      const SharedKind* kind = shared_kind(limit.kind);
      if (!kind) continue;
      if (kind->whose != Whose::all && !seen.emplace(family_of(limit.kind), limit.tres).second)
        continue;
      const Level* on = kind->whose == Whose::all ? own
                        : kind->whose == Whose::account
                            ? level(Kind::qos_account)
                            : level(is_qos ? Kind::qos_user : Kind::association);
      if (on) party.bounds.push_back({&limit, kind, *on, whose, is_qos});
    }
  };
  if (qos) add(qos->limits, "QOS " + qos->name, level(Kind::qos), true);
  if (chain.user)
    add(chain.user->terms.limits, chain.user->key.user, level(Kind::association), false);
  for (const Account* account : chain.accounts) {
    const auto own = std::find_if(levels.begin(), levels.end(), [&](const Level& one) {
      return one.kind == Kind::account && one.name == account->name;
    });
    add(account->terms.limits, account->name, &*own, false);
  }
  return party;
}

}  // namespace ares::core
