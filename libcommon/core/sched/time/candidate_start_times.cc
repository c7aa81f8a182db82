#include "core/sched/time/candidate_start_times.h"

#include <algorithm>
#include <functional>

namespace ares::core::sched {
namespace {

bool wants_total(const Demand& demand) {
  return !demand.gpus_total.empty() || demand.any_gpus_total > 0;
}

std::vector<TypedDemand> types_of(const Demand& demand) {
  std::vector<TypedDemand> types;
  if (!demand.wants_any_gpu()) types.emplace_back(demand, std::nullopt);
  for (std::size_t column = kFirstGpu; column < demand.gpu_end && demand.wants_any_gpu(); ++column)
    types.emplace_back(demand, column);
  return types;
}

bool has_total(const TypedDemand& typed, std::span<const std::int64_t> free) {
  for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column)
    if (free[column] - typed.per_node[column] < typed.total[column]) return false;
  return true;
}

}  // namespace

CandidateStartTimes::CandidateStartTimes(const Demand& demand, std::optional<Seconds> limit,
                                         NodeSet set, const ClusterIndex& index,
                                         const Profile& profile, Time from)
    : demand_(demand),
      limit_(limit),
      set_(set.nodes),
      required_(set.required),
      index_(index),
      profile_(profile),
      from_(std::max(from, profile.now())),
      types_(types_of(demand)),
      row_(index.stride()),
      seen_(index.nodes().size()) {
  const bool single = demand.max_nodes == 1;
  // Each node of a placement holds at least one task.
  most_ = single ? std::int64_t{demand.tasks}
                 : std::max<std::int64_t>(std::int64_t{demand.tasks} - demand.min_nodes + 1, 1);
  every_change_ = demand.tags || demand.limited() || !required_.empty() ||
                  demand.access.exclusive_user || index.by_user() ||
                  !demand.gpu_constraint.none() || demand.plugin_class ||
                  affected_by_reservations(demand, set, index) ||
                  (!single && (wants_total(demand) || demand.wants_any_gpu()));
  every_fall_ = every_change_ || demand.wants_any_gpu();
  for (const NodeIndex node : set_) add(node);
  std::make_heap(events_.begin(), events_.end());
}

// The most tasks that matter, for any type. More than fit() finds if several nodes must have the
// same type, or if GPUs are requested in total over several nodes.
std::int64_t CandidateStartTimes::tasks_on(std::span<const std::int64_t> free,
                                           std::span<const std::int64_t> total) const {
  std::int64_t most = 0;
  for (const TypedDemand& typed : types_) {
    if (demand_.max_nodes == 1 && !has_total(typed, free)) continue;
    most = std::max<std::int64_t>(
        most, task_capacity(demand_, typed.per_node, {0, free, total, false}, typed.per_task));
  }
  if (demand_.max_nodes == 1) return most >= most_ ? most_ : 0;
  return std::min(most, most_);
}

void CandidateStartTimes::add(NodeIndex node) {
  const Amounts& total = index_.nodes()[node].total;
  if (tasks_on(total, total) == 0) return;
  index_.reservations().each_change(node, from_, [&](Time at) {
    events_.push_back({at, node, 0, 0, true});
  });
  if (profile_.falls(node))
    add_falling(node);
  else
    add_rising(node);
}

void CandidateStartTimes::change(Time at, NodeIndex node, std::int64_t& had, std::int64_t has,
                                 bool every) {
  if (has == had && !every) return;
  events_.push_back(
      {at, node, (has > 0 ? 1 : 0) - (had > 0 ? 1 : 0), has - had, every || has > had});
  had = has;
}

// Once enough nodes have everything that matters, later changes need not be examined.
void CandidateStartTimes::record_filled(Time at) {
  if (every_change_ || !demand_.node_counts.empty()) return;
  filled_.push(at);
  if (filled_.size() > demand_.min_nodes) filled_.pop();
}

void CandidateStartTimes::add_rising(NodeIndex node) {
  const Amounts& total = index_.nodes()[node].total;
  std::int64_t had = 0;
  profile_.each_step(node, from_, row_, [&](Time at, std::span<const std::int64_t> free) {
    if (filled_.size() == demand_.min_nodes && at > filled_.top()) return false;
    change(at, node, had, tasks_on(free, total), every_change_);
    if (had < most_ || every_change_) return true;
    record_filled(at);
    return false;
  });
}

// The free amount of a window that begins at t is the minimum of all steps that begin before t +
// limit.
void CandidateStartTimes::add_falling(NodeIndex node) {
  const Amounts& total = index_.nodes()[node].total;
  std::vector<Time> begins;
  std::vector<std::int64_t> tasks;
  profile_.each_step(node, from_, row_, [&](Time at, std::span<const std::int64_t> free) {
    begins.push_back(at);
    tasks.push_back(tasks_on(free, total));
    return true;
  });
  const std::size_t count = begins.size();
  // The first later step with less.
  std::vector<std::size_t> lower(count, count);
  for (std::size_t i = count; i-- > 0;) {
    std::size_t next = i + 1;
    while (next < count && tasks[next] >= tasks[i]) next = lower[next];
    lower[i] = next;
  }
  const auto in_window = [&](std::size_t step, Time from) {
    return step < count && (!limit_ || begins[step] < from + *limit_);
  };
  std::int64_t had = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t least = i;
    while (in_window(lower[least], begins[i])) least = lower[least];
    change(begins[i], node, had, tasks[least], every_fall_);
    // Before the next step begins, the end of the window may reach a step with less.
    while (lower[least] < count &&
           (i + 1 == count || begins[lower[least]] - *limit_ + Duration(1) < begins[i + 1])) {
      least = lower[least];
      change(begins[least] - *limit_ + Duration(1), node, had, tasks[least], false);
    }
  }
}

std::optional<Time> CandidateStartTimes::at(std::size_t i) {
  while (times_.size() <= i && !events_.empty()) {
    const Time now = events_.front().at;
    bool counts = false;
    while (!events_.empty() && events_.front().at == now) {
      const Event& event = events_.front();
      nodes_now_ += event.nodes;
      tasks_now_ += event.tasks;
      counts = counts || event.counts;
      if (event.tasks > 0 && !seen_.test(event.node)) {
        seen_.set(event.node);
        ++seen_count_;
      }
      std::pop_heap(events_.begin(), events_.end());
      events_.pop_back();
    }
    if (counts && nodes_now_ >= demand_.min_nodes && tasks_now_ >= demand_.tasks)
      times_.push_back(now);
  }
  return i < times_.size() ? std::optional(times_[i]) : std::nullopt;
}

NodeSet CandidateStartTimes::nodes() {
  if (!required_.empty()) return {set_, required_};
  if (listed_ != seen_count_) {
    seen_list_.clear();
    seen_.for_each([&](std::size_t node) { seen_list_.push_back(static_cast<NodeIndex>(node)); });
    listed_ = seen_count_;
  }
  return {seen_list_, {}};
}

}  // namespace ares::core::sched
