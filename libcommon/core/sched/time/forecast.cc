#include "core/sched/time/forecast.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ares::core::sched {
namespace {

// Each costs some megabytes on ten thousand nodes.
constexpr std::size_t kMostKept = 8;
constexpr std::int64_t kSpanSeconds = 1024;

std::int64_t span_of(Time end) {
  if (end == Time::max()) return std::numeric_limits<std::int64_t>::max();
  return std::chrono::floor<std::chrono::seconds>(end).time_since_epoch().count() / kSpanSeconds;
}

bool can_tell(const Demand& demand, NodeSet set, const ClusterIndex& index,
              const Profile& profile) {
  return set.bits && set.required.empty() && Shortlist::suits(demand) && !index.by_user() &&
         !profile.any_keeper() && !has_planned_start(set, profile) && !reserved(demand, set, index);
}

}  // namespace

Forecast::Forecast(const Demand& demand, NodeSet set, const ClusterIndex& index)
    : demand_(demand),
      set_(set),
      index_(index),
      capacity_(demand, index.stride()),
      nodes_(index.nodes().size()),
      row_(index.stride()) {}

void Forecast::update(const Profile& profile) {
  const auto again = [&](NodeIndex at) {
    if (set_.bits->test(at)) read(at, profile);
  };
  std::vector<NodeIndex> passing = std::exchange(passing_, {});
  const NodeLog& changed = index_.changes();
  const NodeLog& released = profile.releases().changes();
  const auto note = [&](NodeIndex at) { passing.push_back(at); };
  made_ =
      made_ && changed.each_since(index_seen_, note) && released.each_since(releases_seen_, note);
  index_seen_ = changed.count();
  releases_seen_ = released.count();
  if (!made_) {
    made_ = true;
    for (const NodeIndex at : set_.nodes) read(at, profile);
    return;
  }
  profile.touched().for_each([&](std::size_t at) { note(static_cast<NodeIndex>(at)); });
  std::sort(passing.begin(), passing.end());
  passing.erase(std::unique(passing.begin(), passing.end()), passing.end());
  for (const NodeIndex at : passing) again(at);
}

void Forecast::forget(NodeIndex at) {
  Read& node = nodes_[at];
  ++node.reading;
  tasks_now_ -= node.tasks_now;
  nodes_now_ -= node.tasks_now > 0 ? 1 : 0;
  node.tasks_now = 0;
  for (const Step& step : node.steps) {
    Span& span = spans_.at(span_of(step.end));
    span.tasks -= step.tasks;
    span.nodes -= step.first ? 1 : 0;
    ++span.outdated;
  }
  for (const Step& step : node.steps) {
    const auto found = spans_.find(span_of(step.end));
    if (found == spans_.end() || found->second.outdated * 2 < found->second.events.size()) continue;
    Span& span = found->second;
    std::erase_if(span.events, [&](const Event& event) { return is_outdated(event); });
    span.outdated = 0;
    if (span.events.empty()) spans_.erase(found);
  }
  node.steps.clear();
}

void Forecast::add(NodeIndex at, const Step& step) {
  nodes_[at].steps.push_back(step);
  Span& span = spans_[span_of(step.end)];
  span.tasks += step.tasks;
  span.nodes += step.first ? 1 : 0;
  span.events.push_back({step, at, nodes_[at].reading});
}

void Forecast::read(NodeIndex at, const Profile& profile) {
  forget(at);
  const Amounts& total = index_.nodes()[at].total;
  if (capacity_.of(total, total) == 0) return;
  Read& node = nodes_[at];
  std::uint32_t had = 0;
  const auto now = [&](std::span<const std::int64_t> free) {
    had = node.tasks_now = capacity_.of(free, total);
    tasks_now_ += had;
    nodes_now_ += had > 0 ? 1 : 0;
  };
  const auto later = [&](Time end, std::span<const std::int64_t> free) {
    const std::uint32_t has = capacity_.of(free, total);
    if (has > had) add(at, {end, has - had, had == 0});
    had = std::max(had, has);
    return had < capacity_.most();
  };
  if (!profile.touched(at)) {
    now(index_.levels().free(at));
    if (profile.moves(at)) passing_.push_back(at);
    if (had < capacity_.most()) profile.each_end(at, row_, later);
    return;
  }
  passing_.push_back(at);
  bool first = true;
  profile.each_step(at, profile.now(), row_, [&](Time begin, std::span<const std::int64_t> free) {
    if (!std::exchange(first, false)) return later(begin, free);
    now(free);
    return had < capacity_.most();
  });
}

std::optional<Time> Forecast::first(Time from, const Profile& profile) const {
  const Time begin = std::max(from, profile.now());
  // What is over, or ending, comes free in a moment.
  const Time soon = std::max(begin, profile.lifted(Time::min()));
  std::int64_t nodes = nodes_now_, tasks = tasks_now_;
  if (enough(nodes, tasks)) return begin;
  for (const auto& [at, span] : spans_) {
    if (!enough(nodes + span.nodes, tasks + span.tasks)) {
      nodes += span.nodes;
      tasks += span.tasks;
      continue;
    }
    std::vector<Step> steps;
    for (const Event& event : span.events)
      if (!is_outdated(event)) steps.push_back(event.step);
    std::sort(steps.begin(), steps.end(),
              [](const Step& a, const Step& b) { return a.end < b.end; });
    for (const Step& step : steps) {
      nodes += step.first ? 1 : 0;
      tasks += step.tasks;
      if (enough(nodes, tasks)) return std::max(soon, profile.lifted(step.end));
    }
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Forecast::tasks_at(Time at, const Profile& profile) const {
  std::vector<std::uint32_t> tasks(nodes_.size(), 0);
  for (const NodeIndex node : set_.nodes) tasks[node] = nodes_[node].tasks_now;
  for (const auto& [begin, span] : spans_)
    for (const Event& event : span.events)
      if (profile.lifted(event.step.end) <= at && !is_outdated(event))
        tasks[event.node] += event.step.tasks;
  return tasks;
}

std::optional<EarliestStart> Forecasts::earliest(const Demand& demand, NodeSet set,
                                                 std::optional<Seconds> limit,
                                                 const ClusterIndex& index, const Profile& profile,
                                                 Work& work, Time from) {
  const auto search = [&] {
    return sched::earliest(demand, limit, set, index, profile, work, from);
  };
  if (!can_tell(demand, set, index, profile)) return search();
  Forecast& forecast = of(demand, set, index);
  forecast.update(profile);
  const auto at = forecast.first(from, profile);
  std::vector<NodeIndex> nodes;
  std::size_t with_room = 0;
  if (at) {
    const std::vector<std::uint32_t> tasks = forecast.tasks_at(*at, profile);
    Shortlist shortlist(demand, index.stride(), set.nodes.size());
    for (const NodeIndex node : set.nodes) shortlist.offer(node, tasks[node]);
    with_room = shortlist.offered();
    nodes = shortlist.best();
    if (nodes.empty()) return search();  // they are too many: another moment
  }
  // As much as a search.
  work.spend(set.nodes.size());
  if (!at || work.exhausted()) return std::nullopt;
  work.spend(with_room - nodes.size());
  auto placement =
      fit_between(demand, {nodes, {}}, index, profile, *at, Profile::end_of(*at, limit), work);
  if (!placement || work.exhausted()) return std::nullopt;
  return EarliestStart{*at, *std::move(placement)};
}

Forecast& Forecasts::of(const Demand& demand, NodeSet set, const ClusterIndex& index) {
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return kept.demand == &demand; });
  if (found != kept_.end() && found->generation == index.generation()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front().forecast;
  }
  if (found != kept_.end()) kept_.erase(found);
  if (kept_.size() == kMostKept) kept_.pop_back();
  kept_.emplace_front(demand, set, index);
  return kept_.front().forecast;
}

}  // namespace ares::core::sched
