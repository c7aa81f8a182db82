// Room under limits that is kept for those who wait.
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

// Of a job that holds resources, at the latest.
Time end_of(const Job& job, Time now) {
  if (job.state == JobState::completing) return now;
  if (!job.allocation->time_limit) return Time::max();
  if (!job.started) return end_of(now, job.allocation->time_limit);
  if (job.state == JobState::suspended) return now + limit_left(job).value_or(Duration{});
  return std::max(now, limit_end(job).value_or(now));
}

bool of_what_runs(const LimitParties::Bound& bound) {
  return bound.shared->measure == Measure::running || bound.shared->measure == Measure::tres;
}

std::uint64_t amount_of(const LimitParties::Bound& bound, const std::vector<TresAmount>& tres) {
  return bound.shared->measure == Measure::running ? 1 : amount_in(tres, bound.limit->tres);
}

std::uint64_t wanted_of(const LimitParties::Bound& bound, const Asked& asked) {
  return bound.shared->measure == Measure::running ? 1 : asked.amount(bound.limit->tres);
}

}  // namespace

bool LimitUse::may_keep(const std::vector<Waiting>& who) {
  if (!active()) return false;
  struct Line {
    U128 wanted = 0, most = ~U128{0};
  };
  std::map<BoundKey, Line> lines;
  for (const Waiting& one : who)
    for (const Bound& bound :
         parties().party_of(usage_key_of(*one.spec, one.partition->name)).bounds) {
      if (!of_what_runs(bound)) continue;
      if (kept_bounds_.contains({bound.limit, bound.level})) return false;
      Line& line = lines[{bound.limit, bound.level}];
      line.most = std::min(line.most, U128{most_of(*bound.limit, bound.scale, wholes_)});
    }
  for (const Waiting& one : who) {
    const Asked asked = asked_by(one);
    if (over_limit(state_.accounting, enforce(), asked, wholes_)) return false;
    const Party& party = parties().party_of(usage_key_of(*one.spec, one.partition->name));
    if (first_over(party, asked, Others::by_minutes)) return false;
    for (const Bound& bound : party.bounds)
      if (of_what_runs(bound)) lines[{bound.limit, bound.level}].wanted += wanted_of(bound, asked);
  }
  return !lines.empty() && std::all_of(lines.begin(), lines.end(), [](const auto& one) {
    return one.second.wanted <= one.second.most;
  });
}

Asked LimitUse::asked_by(const Waiting& one) const {
  return {*one.spec, *one.partition, rules_of(policy_), one.time_limit,
          one.gets ? &*one.gets : nullptr};
}

void LimitUse::keep_room(std::vector<Waiting> who, std::string name, std::optional<Time> at) {
  if (!may_keep(who)) return;
  Kept kept{std::move(who), std::move(name), at, {}, {}, {}};
  for (const Waiting& one : kept.who)
    for (const Bound& bound :
         parties().party_of(usage_key_of(*one.spec, one.partition->name)).bounds)
      if (of_what_runs(bound)) {
        kept.spare[{bound.limit, bound.level}] = 0;
        kept_bounds_.emplace(bound.limit, bound.level);
      }
  kept_.push_back(std::move(kept));
}

// What runs, and starts in this pass, until when.
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

// When there will be room for it, unless that is said, and how much of each limit others may have beyond that.
void LimitUse::reckon(Kept& kept) {
  struct Line {
    const Bound* bound = nullptr;
    U128 wanted = 0;
    std::vector<std::pair<Time, U128>> releases;
  };
  std::map<BoundKey, Line> lines;
  for (const Waiting& one : kept.who) {
    const Asked asked = asked_by(one);
    for (const Bound& bound :
         parties().party_of(usage_key_of(*one.spec, one.partition->name)).bounds) {
      if (!of_what_runs(bound)) continue;
      Line& line = lines[{bound.limit, bound.level}];
      if (!line.bound || bound.scale.factor < line.bound->scale.factor) line.bound = &bound;
      line.wanted += wanted_of(bound, asked);
    }
  }
  each_release([&](Time end, const UsageKey& usage_key, const std::vector<TresAmount>& tres) {
    const auto& levels = parties().levels_of(usage_key);
    for (auto& [key, line] : lines)
      if (std::find(levels.begin(), levels.end(), key.second) != levels.end())
        line.releases.emplace_back(end, amount_of(*line.bound, tres));
  });
  Time at = kept.promised.value_or(now_);
  for (auto& [key, line] : lines) {
    std::sort(line.releases.begin(), line.releases.end());
    const U128 most = most_of(*key.first, line.bound->scale, wholes_);
    U128 used = in_use(*line.bound);
    for (auto next = line.releases.begin(); !kept.promised && used + line.wanted > most; ++next) {
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
    const U128 most = most_of(*key.first, line.bound->scale, wholes_), gone = used + line.wanted;
    kept.spare[key] = most > gone ? most - gone : U128{0};
  }
  kept.at = at;
  kept.reckoned = added_.size();
}

std::optional<OverLimit> LimitUse::in_the_way(const Party& party, const Asked& asked) {
  for (Kept& kept : kept_) {
    const auto is_it = [&](const Waiting& one) { return one.spec == &asked.spec; };
    if (std::any_of(kept.who.begin(), kept.who.end(), is_it)) continue;
    for (const Bound& bound : party.bounds) {
      const auto spare = kept.spare.find({bound.limit, bound.level});
      if (spare == kept.spare.end()) continue;
      if (!kept.reckoned) reckon(kept);
      if (end_of(now_, asked.time_limit) <= kept.at) break;
      const std::uint64_t amount = wanted_of(bound, asked);
      if (amount <= spare->second) continue;
      OverLimit over;
      over.name = reason_name(bound.limit->kind, bound.limit->tres, bound.qos);
      over.text = std::string(row_of(bound.limit->kind).name) + " of " + bound.whose + " is " +
                  limit_text(*bound.limit, bound.scale, wholes_) +
                  ", and room under it is kept for " + kept.name + ", which waits longer";
      return over;
    }
  }
  return std::nullopt;
}

// What it takes of that which others than those who wait may have.
void LimitUse::take_spare(Added& added) {
  if (kept_.empty()) return;
  const Party& party = parties().party_of(added.usage_key);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    Kept& kept = kept_[i];
    if (!kept.reckoned || added.end <= kept.at) continue;
    for (const Bound& bound : party.bounds) {
      const auto spare = kept.spare.find({bound.limit, bound.level});
      if (spare == kept.spare.end()) continue;
      const U128 taken = std::min(spare->second, U128{amount_of(bound, added.sum.tres)});
      spare->second -= taken;
      added.spare.push_back({i, spare->first, taken});
    }
  }
}

void LimitUse::give_back_spare(const Added& added) {
  for (const auto& [at, key, amount] : added.spare)
    if (at < kept_.size()) kept_[at].spare[key] += amount;
}

}  // namespace ares::core
