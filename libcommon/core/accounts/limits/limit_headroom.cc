// Headroom under limits that is set aside for waiting jobs.
#include <algorithm>

#include "base/saturating.h"
#include "core/accounts/limits/limit_reasons.h"
#include "core/accounts/limits/limit_use.h"
#include "core/accounts/usage/charge.h"
#include "core/state/timers.h"

namespace ares::core {

using fairness::U128;

namespace {

Time end_of(Time now, std::optional<Seconds> limit) {
  return limit ? now + std::max(*limit, Seconds{0}) : Time::max();
}

// The latest end of a job that holds resources.
Time end_of(const Job& job, Time now) {
  if (job.state == JobState::completing) return now;
  if (!job.allocation->time_limit) return Time::max();
  if (!job.started) return end_of(now, job.allocation->time_limit);
  if (job.state == JobState::suspended) return now + limit_left(job).value_or(Duration{});
  return std::max(now, limit_end(job).value_or(now));
}

bool of_what_runs(const ApplicableLimits::LimitBound& bound) {
  return bound.shared->measure == Measure::running || bound.shared->measure == Measure::tres;
}

std::uint64_t amount_of(const ApplicableLimits::LimitBound& bound,
                        const std::vector<TresAmount>& tres) {
  return bound.shared->measure == Measure::running ? 1 : amount_in(tres, bound.limit->tres);
}

std::uint64_t wanted_of(const ApplicableLimits::LimitBound& bound, const RequestedTres& requested) {
  return bound.shared->measure == Measure::running ? 1 : requested.amount(bound.limit->tres);
}

}  // namespace

bool LimitUse::may_set_aside(const std::vector<Waiting>& who) {
  if (!active()) return false;
  struct Line {
    U128 wanted = 0, most = ~U128{0};
  };
  std::map<LimitBoundKey, Line> lines;
  for (const Waiting& one : who)
    for (const LimitBound& bound :
         applicable_limits().limits_for(usage_key_of(*one.spec, one.partition->name)).bounds) {
      if (!of_what_runs(bound)) continue;
      if (set_aside_bounds_.contains({bound.limit, bound.scope})) return false;
      Line& line = lines[{bound.limit, bound.scope}];
      line.most = std::min(line.most, U128{most_of(*bound.limit, bound.scale, cluster_totals_)});
    }
  for (const Waiting& one : who) {
    const RequestedTres requested = requested_by(one);
    if (over_limit(state_.accounting, enforce(), requested, cluster_totals_)) return false;
    const LimitSet& limit_set =
        applicable_limits().limits_for(usage_key_of(*one.spec, one.partition->name));
    if (first_over(limit_set, requested, Others::by_minutes)) return false;
    for (const LimitBound& bound : limit_set.bounds)
      if (of_what_runs(bound))
        lines[{bound.limit, bound.scope}].wanted += wanted_of(bound, requested);
  }
  return !lines.empty() && std::all_of(lines.begin(), lines.end(), [](const auto& one) {
    return one.second.wanted <= one.second.most;
  });
}

RequestedTres LimitUse::requested_by(const Waiting& one) const {
  return {*one.spec, *one.partition, rules_of(policy_), one.time_limit,
          one.allocated_tres ? &*one.allocated_tres : nullptr};
}

void LimitUse::set_aside_headroom(std::vector<Waiting> who, std::string name,
                                  std::optional<Time> at) {
  if (!may_set_aside(who)) return;
  SetAside headroom{std::move(who), std::move(name), at, {}, {}, {}};
  for (const Waiting& one : headroom.who)
    for (const LimitBound& bound :
         applicable_limits().limits_for(usage_key_of(*one.spec, one.partition->name)).bounds)
      if (of_what_runs(bound)) {
        headroom.spare[{bound.limit, bound.scope}] = 0;
        set_aside_bounds_.emplace(bound.limit, bound.scope);
      }
  set_aside_.push_back(std::move(headroom));
}

// Visits the jobs that run, and those that start in this pass, with their latest end.
void LimitUse::each_release(
    const std::function<void(Time, const UsageKey&, const std::vector<TresAmount>&)>& visit) {
  if (!runs_) {
    runs_.emplace();
    each_running([&](const Job& job) {
      runs_->push_back({end_of(job, now_), ares::usage_key_of(job), tres_of(*job.allocation)});
    });
  }
  for (const Run& run : *runs_) visit(run.end, run.usage_key, run.tres);
  for (const Added& added : added_)
    if (added.sum.running > 0) visit(added.end, added.usage_key, added.sum.tres);
}

// Computes when the jobs have room, unless that is planned, and what others may use beyond them.
void LimitUse::compute_spare(SetAside& headroom) {
  struct Line {
    const LimitBound* bound = nullptr;
    U128 wanted = 0;
    std::vector<std::pair<Time, U128>> releases;
  };
  std::map<LimitBoundKey, Line> lines;
  for (const Waiting& one : headroom.who) {
    const RequestedTres requested = requested_by(one);
    for (const LimitBound& bound :
         applicable_limits().limits_for(usage_key_of(*one.spec, one.partition->name)).bounds) {
      if (!of_what_runs(bound)) continue;
      Line& line = lines[{bound.limit, bound.scope}];
      if (!line.bound || bound.scale.factor < line.bound->scale.factor) line.bound = &bound;
      line.wanted += wanted_of(bound, requested);
    }
  }
  each_release([&](Time end, const UsageKey& usage_key, const std::vector<TresAmount>& tres) {
    const auto& scopes = applicable_limits().scopes_of(usage_key);
    for (auto& [key, line] : lines)
      if (std::find(scopes.begin(), scopes.end(), key.second) != scopes.end())
        line.releases.emplace_back(end, amount_of(*line.bound, tres));
  });
  Time at = headroom.planned_start.value_or(now_);
  for (auto& [key, line] : lines) {
    std::sort(line.releases.begin(), line.releases.end());
    const U128 most = most_of(*key.first, line.bound->scale, cluster_totals_);
    U128 used = in_use(*line.bound);
    for (auto next = line.releases.begin(); !headroom.planned_start && used + line.wanted > most;
         ++next) {
      if (next == line.releases.end()) {
        at = Time::max();
        break;
      }
      used -= std::min(used, next->second);
      at = std::max(at, next->first);
    }
  }
  for (auto& [key, line] : lines) {
    U128 used = in_use(*line.bound);
    for (const auto& [end, amount] : line.releases)
      if (end <= at) used -= std::min(used, amount);
    const U128 most = most_of(*key.first, line.bound->scale, cluster_totals_),
               gone = used + line.wanted;
    headroom.spare[key] = most > gone ? most - gone : U128{0};
  }
  headroom.at = at;
  headroom.computed_with = added_.size();
}

std::optional<OverLimit> LimitUse::set_aside_conflict(const LimitSet& limit_set,
                                                      const RequestedTres& requested) {
  for (SetAside& headroom : set_aside_) {
    const auto is_it = [&](const Waiting& one) { return one.spec == &requested.spec; };
    if (std::any_of(headroom.who.begin(), headroom.who.end(), is_it)) continue;
    for (const LimitBound& bound : limit_set.bounds) {
      const auto spare = headroom.spare.find({bound.limit, bound.scope});
      if (spare == headroom.spare.end()) continue;
      if (!headroom.computed_with) compute_spare(headroom);
      if (end_of(now_, requested.time_limit) <= headroom.at) break;
      const std::uint64_t amount = wanted_of(bound, requested);
      if (amount <= spare->second) continue;
      OverLimit over;
      over.name = reason_name(bound.limit->kind, bound.limit->tres, bound.qos);
      over.text = std::string(row_of(bound.limit->kind).name) + " of " + bound.whose + " is " +
                  limit_text(*bound.limit, bound.scale, cluster_totals_) +
                  ", and room under it is kept for " + headroom.name + ", which waits longer";
      return over;
    }
  }
  return std::nullopt;
}

// Takes a start's amounts from what others may use, if it ends after the headroom is needed.
void LimitUse::use_spare(Added& added) {
  if (set_aside_.empty()) return;
  const LimitSet& limit_set = applicable_limits().limits_for(added.usage_key);
  for (std::size_t i = 0; i < set_aside_.size(); ++i) {
    SetAside& headroom = set_aside_[i];
    if (!headroom.computed_with || added.end <= headroom.at) continue;
    for (const LimitBound& bound : limit_set.bounds) {
      const auto spare = headroom.spare.find({bound.limit, bound.scope});
      if (spare == headroom.spare.end()) continue;
      const U128 taken = std::min(spare->second, U128{amount_of(bound, added.sum.tres)});
      spare->second -= taken;
      added.spare.push_back({i, spare->first, taken});
    }
  }
}

void LimitUse::return_spare(const Added& added) {
  for (const auto& [at, key, amount] : added.spare)
    if (at < set_aside_.size()) set_aside_[at].spare[key] += amount;
}

}  // namespace ares::core
