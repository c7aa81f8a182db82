#include "core/sched/time/late_nodes.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "core/sched/place/shortlist.h"

namespace ares::core::sched {
namespace {

struct FreeSince {
  Time since;
  NodeIndex node;
  std::optional<std::uint32_t> tasks{};  // that it takes; none: not counted yet
};

// Tasks that nodes take together where a placement has no more nodes than the demand allows.
class TaskCount {
 public:
  explicit TaskCount(const Demand& demand) : demand_(demand) {}

  void add(std::uint32_t tasks) {
    if (tasks == 0) return;
    most_.push(tasks);
    sum_ += tasks;
    if (most_.size() <= demand_.max_nodes) return;
    sum_ -= most_.top();
    most_.pop();
  }
  bool is_enough() const { return most_.size() >= demand_.min_nodes && sum_ >= demand_.tasks; }

 private:
  const Demand& demand_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> most_;
  std::uint64_t sum_ = 0;
};

// The time from which on the node has free, without a break, what it has from `at` until `to`.
class SinceWhen {
 public:
  SinceWhen(const ClusterIndex& index, const Profile& profile, Time at, std::optional<Time> to)
      : profile_(profile), at_(at), to_(to), least_(index.stride()), row_(index.stride()) {}

  Time operator()(NodeIndex node) {
    if (!profile_.touched(node)) return profile_.last_release(node, at_);
    profile_.min_free(node, at_, to_, least_);
    Time since = profile_.now();
    bool holds = true;
    profile_.each_step(node, profile_.now(), row_, [&](Time time, auto free) {
      if (time > at_) return false;
      const bool enough =
          std::equal(least_.begin(), least_.end(), free.begin(),
                     [](std::int64_t need, std::int64_t has) { return has >= need; });
      if (enough && !holds) since = time;
      holds = enough;
      return true;
    });
    return since;
  }

 private:
  const Profile& profile_;
  Time at_;
  std::optional<Time> to_;
  Amounts least_, row_;
};

std::vector<NodeIndex> nodes_of(const Placement& placement) {  // ascending
  std::vector<NodeIndex> nodes;
  nodes.reserve(placement.size());
  for (const PlacedShare& share : placement) nodes.push_back(share.node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// Nodes by the time since when they are free, latest first; those of one time are a group.
class LateNodes {
 public:
  LateNodes(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
            const ClusterIndex& index, const Profile& profile, SearchBudget& work, Time at)
      : demand_(demand),
        set_(set),
        index_(index),
        profile_(profile),
        work_(work),
        at_(at),
        to_(Profile::end_of(at, limit)) {}

  // On whole groups, as few as are enough, and of the last of them on as few nodes as are enough.
  // Nothing: on fewer nodes than all it does not fit, or the budget ran out.
  std::optional<Placement> fit(SinceWhen& since) {
    work_.spend(set_.nodes.size());
    for (const NodeIndex node : set_.nodes)
      nodes_.push_back({is_required(set_, node) ? Time::max() : since(node), node});
    std::stable_sort(nodes_.begin(), nodes_.end(),
                     [](const FreeSince& a, const FreeSince& b) { return a.since > b.since; });
    std::vector<std::size_t> ends;  // of each group
    for (std::size_t i = 1; i <= nodes_.size(); ++i)
      if (i == nodes_.size() || nodes_[i].since != nodes_[i - 1].since) ends.push_back(i);

    std::optional<Placement> best;
    const auto first = std::lower_bound(ends.begin(), ends.end(), least_count());
    const std::size_t group = least(static_cast<std::size_t>(first - ends.begin()), ends.size(),
                                    best, [&](std::size_t i) { return ends[i]; });
    if (!best || group == 0) return best;
    const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(ends[group - 1]);
    const auto end = nodes_.begin() + static_cast<std::ptrdiff_t>(ends[group]);
    const std::vector<NodeIndex> taken = nodes_of(*best);
    std::stable_partition(begin, end, [&](const FreeSince& one) {
      return std::binary_search(taken.begin(), taken.end(), one.node);
    });
    const std::size_t low = std::max(ends[group - 1], std::max<std::size_t>(least_count(), 1) - 1);
    least(low, ends[group] - 1, best, [](std::size_t i) { return i + 1; });
    return best;
  }

 private:
  // A number of nodes, of the first ones, below which they are surely too few. Counting tasks costs far less than trying to place them.
  // One more than there are: all are too few.
  std::size_t least_count() {
    if (!set_.required.empty() || !Shortlist::suits(demand_)) return 0;
    const Capacity capacity(demand_);
    Amounts row(index_.stride());
    TaskCount count(demand_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].tasks) {
        work_.spend(1);
        nodes_[i].tasks = tasks_on(nodes_[i].node, capacity, row);
      }
      count.add(*nodes_[i].tasks);
      if (count.is_enough()) return i + 1;
    }
    return nodes_.size() + 1;
  }

  // `row`: scratch.
  std::uint32_t tasks_on(NodeIndex node, const Capacity& capacity, Amounts& row) const {
    if (!profile_.admits(node, demand_.access, at_, to_)) return 0;
    profile_.min_free(node, at_, to_, row);
    return capacity.of(row, index_.nodes()[node].total);
  }

  // The least i in [low, high) for which the first count(i) nodes are enough, given that more are as well; `best` is the placement on
  // these, and stays as it is where there is none. Few are tried first.
  template <class Count>
  std::size_t least(std::size_t low, std::size_t high, std::optional<Placement>& best,
                    Count&& count) {
    std::size_t found = high;
    const auto tries = [&](std::size_t i) {
      auto placement = on_first(count(i));
      if (!placement) return false;
      best = std::move(placement);
      found = i;
      return true;
    };
    for (std::size_t step = 1; low < high && !work_.exhausted(); step *= 2) {
      const std::size_t probe = std::min(low + step - 1, high - 1);
      if (tries(probe)) break;
      low = probe + 1;
    }
    while (low < found && found < high && !work_.exhausted()) {
      const std::size_t middle = low + (found - low) / 2;
      if (!tries(middle)) low = middle + 1;
    }
    return found;
  }

  std::optional<Placement> on_first(std::size_t count) {
    std::vector<NodeIndex> first;
    first.reserve(count);
    for (std::size_t i = 0; i < count; ++i) first.push_back(nodes_[i].node);
    std::sort(first.begin(), first.end());
    return fit_between(demand_, {first, set_.required}, index_, profile_, at_, to_, work_);
  }

  const Demand& demand_;
  const NodeSet set_;
  const ClusterIndex& index_;
  const Profile& profile_;
  SearchBudget& work_;
  const Time at_;
  const std::optional<Time> to_;
  std::vector<FreeSince> nodes_;
};

}  // namespace

void move_to_late_nodes(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                        const ClusterIndex& index, const Profile& profile, SearchBudget& work,
                        EarliestStart& planned) {
  if (planned.at <= profile.now()) return;
  SinceWhen since(index, profile, planned.at, Profile::end_of(planned.at, limit));
  // Jobs that wait now lose nothing by nodes that come free in between.
  const bool holds_free_nodes =
      std::any_of(planned.placement.begin(), planned.placement.end(),
                  [&](const PlacedShare& share) { return since(share.node) == profile.now(); });
  if (!holds_free_nodes) return;
  if (auto placement = LateNodes(demand, limit, set, index, profile, work, planned.at).fit(since))
    planned.placement = *std::move(placement);
}

}  // namespace ares::core::sched
