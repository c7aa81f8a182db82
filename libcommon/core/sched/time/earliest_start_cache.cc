#include "core/sched/time/earliest_start_cache.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ares::core::sched {
namespace {

// Each entry costs some megabytes on ten thousand nodes.
constexpr std::size_t kMaxEntries = 8;
constexpr std::int64_t kBucketSeconds = 1024;

std::int64_t bucket_of(Time end) {
  if (end == Time::max()) return std::numeric_limits<std::int64_t>::max();
  return std::chrono::floor<std::chrono::seconds>(end).time_since_epoch().count() / kBucketSeconds;
}

bool is_cacheable(const Demand& demand, NodeSet set, const ClusterIndex& index,
                  const Profile& profile) {
  return set.bits && set.required.empty() && Shortlist::suits(demand) && !index.by_user() &&
         !profile.any_exclusive_user() && !has_planned_start(set, profile) &&
         !affected_by_reservations(demand, set, index);
}

}  // namespace

CapacityTimeline::CapacityTimeline(const Demand& demand, NodeSet set, const ClusterIndex& index)
    : demand_(demand),
      set_(set),
      index_(index),
      capacity_(demand),
      nodes_(index.nodes().size()),
      row_(index.stride()) {}

void CapacityTimeline::update(const Profile& profile) {
  const auto again = [&](NodeIndex at) {
    if (set_.bits->test(at)) read(at, profile);
  };
  std::vector<NodeIndex> transient = std::exchange(transient_, {});
  const NodeChangeLog& changed = index_.changes();
  const NodeChangeLog& released = profile.releases().changes();
  const auto note = [&](NodeIndex at) { transient.push_back(at); };
  built_ =
      built_ && changed.each_since(index_seen_, note) && released.each_since(releases_seen_, note);
  index_seen_ = changed.count();
  releases_seen_ = released.count();
  if (!built_) {
    built_ = true;
    for (const NodeIndex at : set_.nodes) read(at, profile);
    return;
  }
  profile.touched().for_each([&](std::size_t at) { note(static_cast<NodeIndex>(at)); });
  std::sort(transient.begin(), transient.end());
  transient.erase(std::unique(transient.begin(), transient.end()), transient.end());
  for (const NodeIndex at : transient) again(at);
}

void CapacityTimeline::forget(NodeIndex at) {
  NodeSteps& node = nodes_[at];
  ++node.version;
  tasks_now_ -= node.tasks_now;
  nodes_now_ -= node.tasks_now > 0 ? 1 : 0;
  node.tasks_now = 0;
  for (const Step& step : node.steps) {
    Bucket& bucket = buckets_.at(bucket_of(step.end));
    bucket.tasks -= step.tasks;
    bucket.nodes -= step.first ? 1 : 0;
    ++bucket.outdated;
  }
  for (const Step& step : node.steps) {
    const auto found = buckets_.find(bucket_of(step.end));
    if (found == buckets_.end() || found->second.outdated * 2 < found->second.events.size())
      continue;
    Bucket& bucket = found->second;
    std::erase_if(bucket.events, [&](const Event& event) { return is_outdated(event); });
    bucket.outdated = 0;
    if (bucket.events.empty()) buckets_.erase(found);
  }
  node.steps.clear();
}

void CapacityTimeline::add(NodeIndex at, const Step& step) {
  nodes_[at].steps.push_back(step);
  Bucket& bucket = buckets_[bucket_of(step.end)];
  bucket.tasks += step.tasks;
  bucket.nodes += step.first ? 1 : 0;
  bucket.events.push_back({step, at, nodes_[at].version});
}

void CapacityTimeline::read(NodeIndex at, const Profile& profile) {
  forget(at);
  const Amounts& total = index_.nodes()[at].total;
  if (capacity_.of(total, total) == 0) return;
  NodeSteps& node = nodes_[at];
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
    now(index_.capacity_buckets().free(at));
    if (profile.time_dependent(at)) transient_.push_back(at);
    if (had < capacity_.most()) profile.each_end(at, row_, later);
    return;
  }
  transient_.push_back(at);
  bool first = true;
  profile.each_step(at, profile.now(), row_, [&](Time begin, std::span<const std::int64_t> free) {
    if (!std::exchange(first, false)) return later(begin, free);
    now(free);
    return had < capacity_.most();
  });
}

std::optional<Time> CapacityTimeline::first(Time from, const Profile& profile) const {
  const Time begin = std::max(from, profile.now());
  // Charges that are past their end, or ending, are released at this time.
  const Time soon = std::max(begin, profile.effective_end(Time::min()));
  std::int64_t nodes = nodes_now_, tasks = tasks_now_;
  if (enough(nodes, tasks)) return begin;
  for (const auto& [at, bucket] : buckets_) {
    if (!enough(nodes + bucket.nodes, tasks + bucket.tasks)) {
      nodes += bucket.nodes;
      tasks += bucket.tasks;
      continue;
    }
    std::vector<Step> steps;
    for (const Event& event : bucket.events)
      if (!is_outdated(event)) steps.push_back(event.step);
    std::sort(steps.begin(), steps.end(),
              [](const Step& a, const Step& b) { return a.end < b.end; });
    for (const Step& step : steps) {
      nodes += step.first ? 1 : 0;
      tasks += step.tasks;
      if (enough(nodes, tasks)) return std::max(soon, profile.effective_end(step.end));
    }
  }
  return std::nullopt;
}

std::vector<std::uint32_t> CapacityTimeline::tasks_at(Time at, const Profile& profile) const {
  std::vector<std::uint32_t> tasks(nodes_.size(), 0);
  for (const NodeIndex node : set_.nodes) tasks[node] = nodes_[node].tasks_now;
  for (const auto& [begin, bucket] : buckets_)
    for (const Event& event : bucket.events)
      if (profile.effective_end(event.step.end) <= at && !is_outdated(event))
        tasks[event.node] += event.step.tasks;
  return tasks;
}

std::optional<EarliestStart> EarliestStartCache::find(const Demand& demand, NodeSet set,
                                                      std::optional<Seconds> limit,
                                                      const ClusterIndex& index,
                                                      const Profile& profile, SearchBudget& work,
                                                      Time from) {
  const auto search = [&] {
    return sched::find_earliest_start(demand, limit, set, index, profile, work, from);
  };
  if (!is_cacheable(demand, set, index, profile)) return search();
  CapacityTimeline& timeline = of(demand, set, index);
  timeline.update(profile);
  const auto at = timeline.first(from, profile);
  std::vector<NodeIndex> nodes;
  std::size_t candidates = 0;
  if (at) {
    const std::vector<std::uint32_t> tasks = timeline.tasks_at(*at, profile);
    Shortlist shortlist(demand, set.nodes.size());
    for (const NodeIndex node : set.nodes) shortlist.add(node, tasks[node]);
    candidates = shortlist.offered();
    nodes = shortlist.best();
    // There are enough nodes and tasks by the sums, but no choice of nodes at this time.
    if (nodes.empty()) return search();
  }
  // Costs the same as a search.
  work.spend(set.nodes.size());
  if (!at || work.exhausted()) return std::nullopt;
  work.spend(candidates - nodes.size());
  auto placement =
      fit_between(demand, {nodes, {}}, index, profile, *at, Profile::end_of(*at, limit), work);
  if (!placement || work.exhausted()) return std::nullopt;
  return EarliestStart{*at, *std::move(placement)};
}

CapacityTimeline& EarliestStartCache::of(const Demand& demand, NodeSet set,
                                         const ClusterIndex& index) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.demand == &demand; });
  if (found != entries_.end() && found->generation == index.generation()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().timeline;
  }
  if (found != entries_.end()) entries_.erase(found);
  if (entries_.size() == kMaxEntries) entries_.pop_back();
  entries_.emplace_front(demand, set, index);
  return entries_.front().timeline;
}

}  // namespace ares::core::sched
