#include "core/accounts/limits/limit_use.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/duration.h"
#include "base/saturating.h"
#include "core/accounts/limits/limit_reasons.h"
#include "core/accounts/usage/charge.h"
#include "core/accounts/usage/usage.h"
#include "core/state/timers.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

using fairness::Amount;
using fairness::U128;

constexpr const char* kWall = "wall";
const std::string& measured(const Limit& limit) {
  static const std::string wall = kWall;
  return limit.kind == LimitKind::grp_wall ? wall : limit.tres;
}

// TRES-minutes of an amount. Unlimited is more than any limit, and sums of it do not overflow.
U128 minutes_product(std::uint64_t amount, std::uint64_t minutes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  return U128{amount} * std::min(minutes, kMost);
}

std::uint64_t shown(U128 number) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return number > kMost ? kMost : static_cast<std::uint64_t>(number);
}

void add_all(std::map<std::string, U128, std::less<>>& to,
             const std::map<std::string, U128, std::less<>>& more, int sign) {
  for (const auto& [tres, amount] : more) to[tres] += sign > 0 ? amount : 0 - amount;
}

// The minutes that a running job may still run.
std::uint64_t minutes_left(const Job& job, Time now) {
  if (job.state == JobState::completing) return 0;
  if (job.state == JobState::suspended) {
    const auto left = limit_left(job);
    return minutes_of(left ? std::optional(std::chrono::ceil<Seconds>(*left)) : std::nullopt);
  }
  // A job that has not started has all of its time limit left.
  if (!job.started) return minutes_of(job.allocation->time_limit);
  const auto end = limit_end(job);
  if (!end) return job.allocation->time_limit ? 0 : minutes_of(std::nullopt);
  return minutes_of(std::chrono::ceil<Seconds>(std::max(Duration{}, Duration{*end - now})));
}

}  // namespace

ApplicableLimits& LimitUse::applicable_limits() {
  return sums_.applicable_limits(state_);
}

std::uint64_t LimitUse::count(const LimitScope& scope, std::uint64_t Sum::*field) {
  if (!counted_) sums_.update(state_);
  counted_ = true;
  const auto more = more_.find(scope);
  return sums_.of(scope).*field + (more == more_.end() ? 0 : more->second.*field);
}

std::uint64_t LimitUse::held(const LimitScope& scope, std::string_view tres) {
  if (!counted_) sums_.update(state_);
  counted_ = true;
  const auto more = more_.find(scope);
  return amount_in(sums_.of(scope).tres, tres) +
         (more == more_.end() ? 0 : amount_in(more->second.tres, tres));
}

void LimitUse::each_running(const std::function<void(const Job&)>& visit) const {
  std::set<AttemptKey> seen;
  state_.nodes.for_each([&](NodeId, const Node& node) {
    for (const Charge& charge : node.charges) {
      const Job* job = state_.jobs.find(charge.attempt.job);
      if (job && job->attempt == charge.attempt.attempt && job->allocation &&
          holds_resources(job->state) && seen.insert(charge.attempt).second)
        visit(*job);
    }
  });
}

LimitUse::Minutes LimitUse::minutes_of_run(const UsageKey& usage_key,
                                           const std::vector<TresAmount>& tres,
                                           std::uint64_t minutes) const {
  const Qos* qos = find_qos(state_.accounting, usage_key.qos);
  const std::uint64_t factor = qos ? qos->usage_factor : kPlainFactor;
  Minutes out;
  for (const TresAmount& one : tres) out.granted[one.tres] = minutes_product(one.amount, minutes);
  out.granted[kWall] = minutes_product(1, minutes);
  for (const auto& [name, amount] : out.granted) out.charged[name] = amount * factor;
  return out;
}

void LimitUse::count_run_minutes() {
  run_minutes_.emplace();
  const auto count = [&](const UsageKey& usage_key, const Minutes& minutes) {
    for (const LimitScope& its : applicable_limits().scopes_of(usage_key)) {
      Minutes& sum = (*run_minutes_)[its];
      add_all(sum.granted, minutes.granted, 1);
      add_all(sum.charged, minutes.charged, 1);
    }
  };
  each_running([&](const Job& job) {
    const UsageKey usage_key = ares::usage_key_of(job);
    count(usage_key, minutes_of_run(usage_key, tres_of(*job.allocation), minutes_left(job, now_)));
  });
  for (const Added& one : added_) count(one.usage_key, one.minutes);
}

U128 LimitUse::run_minutes_of(const LimitScope& scope, std::string_view tres, bool charged) {
  if (!run_minutes_) count_run_minutes();
  const Minutes& minutes = (*run_minutes_)[scope];
  const auto& of = charged ? minutes.charged : minutes.granted;
  const auto found = of.find(tres);
  if (found == of.end()) return 0;
  return charged ? found->second / kPlainFactor : found->second;
}

Seconds LimitUse::half_life_at(const LimitScope& scope) const {
  const Fairness& rules = rules_of(policy_);
  if (scope.kind == LimitScope::Kind::association || scope.kind == LimitScope::Kind::account)
    return rules.half_life;
  const Qos* qos = find_qos(state_.accounting, scope.name);
  return qos ? half_life_of(*qos, rules) : rules.half_life;
}

// The stored usage of an association or a QOS; for an account that of everything below it.
Amount LimitUse::stored_of(const LimitScope& scope, const std::string& tres) const {
  const Seconds half_life = half_life_at(scope);
  const auto of = [&](AssociationId id) {
    const AssociationUsage* used = state_.usage.find(id);
    return used ? all_usage_at(*used, tres, now_, half_life, counted_from(state_, id)) : Amount{};
  };
  if (scope.kind != LimitScope::Kind::account) return of(scope.id);
  Amount sum;
  const Accounting& records = state_.accounting;
  records.for_each_from(
      {RecordKind::account, {}, {}, {}}, [&](const RecordKey& key, const AccountingRecord& its) {
        if (key.kind != RecordKind::account) return false;
        if (!is_within(records, key.name, scope.name)) return true;
        sum = sum + of(usage_id(std::get<Account>(its)));
        records.for_each_from({RecordKind::association, key.name, {}, {}},
                              [&](const RecordKey& one, const AccountingRecord& record) {
                                if (one.kind != RecordKind::association || one.name != key.name)
                                  return false;
                                sum = sum + of(std::get<Association>(record).id);
                                return true;
                              });
        return true;
      });
  return sum;
}

// The QOS charged are those recorded at the start: the partition may have another QOS now.
std::vector<ApplicableLimits::LimitScope> LimitUse::scopes_charged_by(const Job& job) {
  using Kind = LimitScope::Kind;
  std::vector<LimitScope> scopes = applicable_limits().scopes_of(ares::usage_key_of(job));
  const ChargedTo& charged = job.allocation->charged_to;
  if (charged == ChargedTo{}) return scopes;
  std::erase_if(scopes, [&](const LimitScope& one) {
    const bool qos = one.kind != Kind::association && one.kind != Kind::account;
    return qos && one.id != charged.qos && one.id != charged.partition_qos;
  });
  const bool there = std::any_of(scopes.begin(), scopes.end(), [&](const LimitScope& one) {
    return one.kind == Kind::qos && one.id == charged.partition_qos;
  });
  const Qos* other = there ? nullptr : qos_of_usage(state_.accounting, charged.partition_qos);
  if (other) scopes.push_back({Kind::qos, other->name, {}, charged.partition_qos});
  return scopes;
}

U128 LimitUse::used_minutes_of(const LimitScope& scope, const std::string& tres) {
  const auto [found, added] = used_.try_emplace({scope, tres});
  if (!added) return found->second;
  if (!running_use_) {
    running_use_.emplace();
    each_running([&](const Job& job) {
      // For an account, use counts as for the association below it, which may have been reset.
      const AssociationId noted = job.allocation->charged_to.association;
      Time since = noted == AssociationId{} ? state_.usage_since : counted_from(state_, noted);
      for (const LimitScope& its : scopes_charged_by(job)) {
        if (its.kind != LimitScope::Kind::account) since = counted_from(state_, its.id);
        for (const auto& [name, amount] :
             used_so_far(state_, policy_, job, now_, half_life_at(its), since)) {
          Amount& sum = (*running_use_)[its][name];
          sum = sum + amount;
        }
      }
    });
  }
  Amount sum = stored_of(scope, tres);
  const auto& running = (*running_use_)[scope];
  if (const auto one = running.find(tres); one != running.end()) sum = sum + one->second;
  // In the units of limits: thousandths of GPUs.
  return found->second = (sum.units >> 16) * units_of(tres) / 60 >> 16;
}

U128 LimitUse::in_use(const LimitBound& bound) {
  const std::string& tres = measured(*bound.limit);
  switch (bound.shared->measure) {
    case Measure::running: return count(bound.scope, &Sum::running);
    case Measure::submitted: return count(bound.scope, &Sum::submitted);
    case Measure::accruing: return count(bound.scope, &Sum::accruing);
    case Measure::tres: return held(bound.scope, tres);
    case Measure::run_minutes: return run_minutes_of(bound.scope, tres, false);
    case Measure::used_minutes:
      return used_minutes_of(bound.scope, tres) +
             (enforce() == Enforce::safe ? run_minutes_of(bound.scope, tres, true) : U128{0});
  }
  return 0;
}

std::optional<OverLimit> LimitUse::first_over(const LimitSet& limit_set,
                                              const RequestedTres& requested, Others others) {
  const bool safe = enforce() == Enforce::safe;
  for (const LimitBound& bound : limit_set.bounds) {
    const Limit& limit = *bound.limit;
    const Measure measure = bound.shared->measure;
    if (measure == Measure::submitted || measure == Measure::accruing) continue;
    const bool jobs = measure == Measure::running, wall = limit.kind == LimitKind::grp_wall;
    const std::uint64_t amount = jobs || wall ? 1 : requested.amount(limit.tres);
    if (amount == 0) continue;
    const bool spent = measure == Measure::used_minutes && !safe;  // then nothing more may start
    const bool timed = measure == Measure::run_minutes || measure == Measure::used_minutes;
    if (others == Others::by_minutes && !timed) continue;
    const bool charged = measure == Measure::used_minutes;
    if (charged && limit_set.factor == 0) continue;  // it costs nothing
    U128 wanted = spent ? 0 : timed ? minutes_product(amount, requested.minutes()) : U128{amount};
    if (charged) wanted = wanted * limit_set.factor / kPlainFactor;
    const U128 most = most_of(limit, bound.scale, cluster_totals_);
    const U128 used = others == Others::none ? U128{0} : in_use(bound);
    if (spent ? used < most : used + wanted <= most) continue;
    const auto text = [&](U128 number) {
      return wall ? format_duration(Seconds(static_cast<std::int64_t>(shown(number * 60))))
                  : amount_text(limit.tres, shown(number));
    };
    OverLimit over;
    over.name = reason_name(limit.kind, limit.tres, bound.qos);
    over.text = std::string(row_of(limit.kind).name) + " of " + bound.whose + " is " +
                limit_text(limit, bound.scale, cluster_totals_);
    const bool each = bound.shared->per != CountedPer::all;
    const std::string who = each ? " by " + bound.scope.second : std::string();
    if (jobs)
      over.text += ", " + std::to_string(shown(used)) + " running" + who;
    else if (spent)
      over.text += ", " + text(used) + " used";
    else
      over.text += ", " + text(used) + (timed ? " used or granted" : " in use") + who +
                   ", the job " +
                   (timed                      ? "may use "
                    : requested.allocated_tres ? "would get "
                                               : "asks for ") +
                   (timed && !requested.time_limit ? std::string("unlimited") : text(wanted));
    over.refuse = limit_set.deny;
    over.varies_with_time = timed;
    return over;
  }
  return std::nullopt;
}

std::optional<OverLimit> LimitUse::below_threshold(const LimitSet& limit_set,
                                                   const JobSpec& spec) const {
  if (limit_set.thresholds.empty() || !fair_share_) return std::nullopt;
  const std::optional<double> share = fair_share_(spec);
  if (!share) return std::nullopt;
  const auto thousandths = static_cast<std::uint32_t>(*share * 1000);
  for (const auto& [qos, whose] : limit_set.thresholds)
    if (thousandths < qos->usage_threshold)
      return OverLimit{"QOSUsageThreshold",
                       "UsageThreshold of " + whose + " is " +
                           format_thousandths(qos->usage_threshold) + ", the fair share of " +
                           spec.user + " in account " + spec.account + " " +
                           format_thousandths(thousandths) + "; it grows as usage decays",
                       false, true};
  return std::nullopt;
}

std::optional<OverLimit> LimitUse::over(const JobSpec& spec, const Partition& partition,
                                        std::optional<Seconds> time_limit,
                                        const TresByNode* allocated_tres) {
  if (!active()) return std::nullopt;
  const std::tuple key(&spec, &partition, time_limit);
  if (!allocated_tres)
    if (const auto known = refused_.find(key); known != refused_.end()) return known->second;
  const RequestedTres requested{spec, partition, rules_of(policy_), time_limit, allocated_tres};
  auto over = over_limit(state_.accounting, enforce(), requested, cluster_totals_);
  if (!over) {
    const LimitSet& limit_set = applicable_limits().limits_for(usage_key_of(spec, partition.name));
    over = below_threshold(limit_set, spec);
    if (!over) over = first_over(limit_set, requested, Others::all);
    if (!over && !set_aside_.empty()) over = set_aside_conflict(limit_set, requested);
  }
  if (over && !allocated_tres) refused_.emplace(key, *over);
  return over;
}

std::optional<OverLimit> LimitUse::over_alone(const JobSpec& spec, const Partition& partition,
                                              std::optional<Seconds> time_limit,
                                              const TresByNode* allocated_tres) {
  if (!active()) return std::nullopt;
  const RequestedTres requested{spec, partition, rules_of(policy_), time_limit, allocated_tres};
  if (auto over = over_limit(state_.accounting, enforce(), requested, cluster_totals_)) return over;
  return first_over(applicable_limits().limits_for(usage_key_of(spec, partition.name)), requested,
                    Others::none);
}

std::optional<OverLimit> LimitUse::over_submitted(const JobSpec& spec, const std::string& partition,
                                                  std::uint64_t jobs) {
  if (!active()) return std::nullopt;
  for (const LimitBound& bound :
       applicable_limits().limits_for(usage_key_of(spec, partition)).bounds) {
    if (bound.shared->measure != Measure::submitted) continue;
    const U128 used = in_use(bound);
    if (used + jobs <= bound.limit->value) continue;
    const bool each = bound.shared->per != CountedPer::all;
    return OverLimit{reason_name(bound.limit->kind, {}, bound.qos),
                     std::string(row_of(bound.limit->kind).name) + " of " + bound.whose + " is " +
                         limit_text(*bound.limit) + ", " + std::to_string(shown(used)) +
                         " submitted" + (each ? " by " + bound.scope.second : "") + ", " +
                         std::to_string(jobs) + " more asked for",
                     true};
  }
  return std::nullopt;
}

bool LimitUse::may_accrue(const UsageKey& usage_key) {
  const auto& bounds = applicable_limits().limits_for(usage_key).bounds;
  return std::all_of(bounds.begin(), bounds.end(), [&](const LimitBound& bound) {
    return bound.shared->measure != Measure::accruing || in_use(bound) < bound.limit->value;
  });
}

void LimitUse::change(const Added& added, int sign) {
  const auto step = [&](std::uint64_t& sum, std::uint64_t by) { sum += sign > 0 ? by : 0 - by; };
  for (const LimitScope& scope : applicable_limits().scopes_of(added.usage_key)) {
    Sum& sum = more_[scope];
    step(sum.running, added.sum.running);
    step(sum.submitted, added.sum.submitted);
    step(sum.accruing, added.sum.accruing);
    if (sign > 0)
      add_tres(sum.tres, added.sum.tres);
    else
      subtract_tres(sum.tres, added.sum.tres);
    if (!run_minutes_) continue;
    Minutes& minutes = (*run_minutes_)[scope];
    add_all(minutes.granted, added.minutes.granted, sign);
    add_all(minutes.charged, added.minutes.charged, sign);
  }
}

void LimitUse::start(const JobSpec& spec, const Partition& partition,
                     std::optional<Seconds> time_limit, const TresByNode* allocated_tres) {
  if (!active()) return;
  Added added{usage_key_of(spec, partition.name), {1, 0, 0, {}}, {}};
  const auto add = [&](const std::string& tres, std::uint64_t amount) {
    add_tres(added.sum.tres, {{tres, amount}});
  };
  const RequestedTres requested{spec, partition, rules_of(policy_), time_limit, allocated_tres};
  if (allocated_tres) {
    for (const auto& node : *allocated_tres)
      for (const auto& [tres, amount] : node) add(tres, amount);
    add("billing", requested.amount("billing"));
  } else {
    for (const std::string& tres : bounded_tres(applicable_limits().limits_for(added.usage_key)))
      add(tres, requested.amount(tres));
  }
  added.minutes = minutes_of_run(added.usage_key, added.sum.tres, requested.minutes());
  if (time_limit) added.end = now_ + std::max(*time_limit, Seconds{0});
  use_spare(added);
  this->add(std::move(added));
}

// The TRES of all limits in the set.
std::set<std::string> LimitUse::bounded_tres(const LimitSet& limit_set) {
  std::set<std::string> names;
  for (const LimitBound& bound : limit_set.bounds)
    if (!bound.limit->tres.empty()) names.insert(bound.limit->tres);
  return names;
}

void LimitUse::submit(const JobSpec& spec, const std::string& partition, std::uint64_t jobs) {
  if (!active()) return;
  add({usage_key_of(spec, partition), {0, jobs, 0, {}}, {}});
}

void LimitUse::accrue(const UsageKey& usage_key) {
  add({usage_key, {0, 0, 1, {}}, {}});
}

void LimitUse::add(Added added) {
  change(added, 1);
  added_.push_back(std::move(added));
}

void LimitUse::roll_back_to(std::size_t mark) {
  if (added_.size() > mark) refused_.clear();
  for (; added_.size() > mark; added_.pop_back()) {
    change(added_.back(), -1);
    return_spare(added_.back());
  }
  // Headroom that was computed with the removed starts is invalid.
  for (SetAside& headroom : set_aside_)
    if (headroom.computed_with && *headroom.computed_with > mark) headroom.computed_with.reset();
}

}  // namespace ares::core
