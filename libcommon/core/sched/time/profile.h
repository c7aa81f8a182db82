// Profile: what each node will have free from now on, as running jobs reach their time limits and
// reservations begin and end. All times after the last known end belong to the last step. Owned by
// one pass; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/bitset.h"
#include "base/time.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/place/fit.h"
#include "core/sched/time/expected_releases.h"

namespace ares::core::sched {

// Free amounts of one node as a step function of time: sorted times, and a row of amounts for each.
class NodeProfile {
 public:
  NodeProfile(Time now, const Amounts& free);

  // Adds `amounts` to the free amounts from `from` on. Fastest if no step begins later.
  void release(Time from, std::span<const std::int64_t> amounts);

  // Subtracts `amounts` from `from` until `to` (nullopt: without end). Negative amounts are added.
  void take(Time from, std::optional<Time> to, std::span<const std::int64_t> amounts);

  // Marks that free amounts may fall again later because of a planned start, so that a search must
  // examine the whole time window.
  void set_falls() { falls_ = true; }
  bool falls() const { return falls_; }

  // The minimum of free amounts over [from, to). `out` is one row of the profile's stride.
  void min_free(Time from, std::optional<Time> to, std::span<std::int64_t> out) const;

  // Calls visit(time, free amounts) for `from`, then for every later step, until it returns false.
  template <class Visit>
  void each_step(Time from, Visit&& visit) const {
    const std::size_t first = step_at(from);
    for (std::size_t step = first; step < times_.size(); ++step)
      if (!visit(step == first ? from : times_[step],
                 std::span(rows_).subspan(step * stride_, stride_)))
        return;
  }

 private:
  // The last step that begins at or before `at`.
  std::size_t step_at(Time at) const;
  // The step that begins at `at`; made if there is none.
  std::size_t split_at(Time at);

  std::size_t stride_;
  std::vector<Time> times_;
  std::vector<std::int64_t> rows_;
  bool falls_ = false;
};

class Profile {
 public:
  // Every charge lasts until the expected end of its job, or until `horizon()` if that end is not
  // known. Only nodes on which the pass starts a job or plans a start get steps of their own; the
  // other nodes are read from `releases`. All arguments must outlive the profile.
  Profile(const ClusterState& state, const ClusterIndex& index, ExpectedReleases& releases,
          Time now);

  Time now() const { return now_; }
  // Stands for the end of jobs without a time limit. It is far in the future but finite, so that
  // waiting jobs keep their order.
  Time horizon() const { return horizon_; }

  // The minimum of the node's free amounts over [from, to); from >= now. `out` is one row of the
  // index's stride.
  void min_free(NodeIndex node, Time from, std::optional<Time> to,
                std::span<std::int64_t> out) const;

  // Calls visit(time, free amounts) for `from` and for every later change on the node, ascending,
  // until it returns false. The amounts are in `row`, which has the index's stride; from >= now.
  template <class Visit>
  void each_step(NodeIndex node, Time from, std::span<std::int64_t> row, Visit&& visit) const {
    if (touched_.test(node)) {
      node_profile(node).each_step(from, visit);
      return;
    }
    const Amounts& free = index_.nodes()[node].free;
    std::copy(free.begin(), free.end(), row.begin());
    const ExpectedReleases::NodeReleases& releases = releases_.of(node, state_, index_, now_);
    const auto add = [&](std::size_t i) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += releases.amounts[i * row.size() + c];
    };
    std::size_t i = 0;
    const std::size_t count = releases.ends.size();
    while (i < count && effective_end(releases.ends[i]) <= from) add(i++);
    if (!visit(from, std::span<const std::int64_t>(row))) return;
    while (i < count) {
      const Time at = effective_end(releases.ends[i]);
      while (i < count && effective_end(releases.ends[i]) == at) add(i++);
      if (!visit(at, std::span<const std::int64_t>(row))) return;
    }
  }

  // For a node that is not touched: calls visit(end, free amounts) with the amounts that stay free
  // after each recorded end, which may be long past; Time::max() stands for an unknown end.
  // Ascending, until it returns false.
  template <class Visit>
  void each_end(NodeIndex node, std::span<std::int64_t> row, Visit&& visit) const {
    const Amounts& free = index_.nodes()[node].free;
    std::copy(free.begin(), free.end(), row.begin());
    const ExpectedReleases::NodeReleases& releases = releases_.of(node, state_, index_, now_);
    for (std::size_t i = 0; i < releases.ends.size(); ++i) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += releases.amounts[i * row.size() + c];
      if (!visit(releases.ends[i], std::span<const std::int64_t>(row))) return;
    }
  }
  // For a node that is not touched: when it gets the last of what it has free at `at`, at least now. Until then it has less.
  Time last_release(NodeIndex node, Time at) const;
  const ExpectedReleases& releases() const { return releases_; }
  // Whether the result of each_end() for the node is valid only at this time.
  bool time_dependent(NodeIndex node) const {
    return releases_.of(node, state_, index_, now_).time_dependent;
  }
  // The end as this pass treats it.
  Time effective_end(Time end) const;

  // Whether the pass started a job, planned a start or released resources on the node.
  bool touched(NodeIndex node) const { return touched_.test(node); }
  const Bitset& touched() const { return touched_; }
  // Whether the pass started a job with --exclusive=user.
  bool any_exclusive_user() const { return any_exclusive_user_; }

  // Whether free amounts of the node may fall at a later time.
  bool falls(NodeIndex node) const { return has_planned_start(node); }

  // Whether the node has a planned start.
  bool has_planned_start(NodeIndex node) const {
    return any_planned_start_ && planned_nodes_.test(node);
  }
  bool any_planned_start() const { return any_planned_start_; }
  const Bitset& nodes_with_planned_starts() const { return planned_nodes_; }

  // The latest time at which a job that starts at `from` releases its resources; nullopt: never. A
  // job without a time limit must not overlap any later reservation, because its end is not known.
  static std::optional<Time> end_of(Time from, std::optional<Seconds> limit);

  // Whether the tenants of the node at that time admit the job, and reservations let it stay until
  // `to`. An exclusive job may not use a node with planned starts of other jobs. The attempts in
  // `gone` are ignored.
  bool admits(NodeIndex node, const AccessRequest& access, Time from, std::optional<Time> to,
              const std::set<AttemptKey>* gone = nullptr) const;

  // Records a job that starts now; the index already excludes its resources from the free amounts.
  void start(const Placement& placement, std::optional<Seconds> limit, const JobSpec& spec);
  // When the last sharer of the device, including those that this pass started, is expected to
  // release it; none: it has no sharer, or the end is not known.
  std::optional<Time> shared_until(NodeIndex node, GpuIndex gpu) const;
  // Records a planned start.
  void add_planned_start(const Placement& placement, Time from, std::optional<Seconds> limit) {
    add_planned_start_until(placement, from, end_of(from, limit));
  }
  void add_planned_start_until(const Placement& placement, Time from, std::optional<Time> to);
  // Resources that were expected to become free at `end` (none: not known) become free at `from`.
  void release_early(NodeIndex node, Time from, std::optional<Time> end, const Amounts& amounts);

 private:
  struct Started {
    Time end;
    Amounts amounts;
    // The index excludes the amounts from that time on only; none: from now on.
    std::optional<Time> from{};
  };
  struct Sharer {
    GpuIndex gpu;
    Time end;
  };
  struct Arrival {
    Time end;
    UserId user;
    bool exclusive = false;
  };

  NodeProfile& node_profile(NodeIndex index) const;
  NodeProfile* find_node_profile(NodeIndex index) const {
    return slots_[index] == 0 ? nullptr : &nodes_[slots_[index] - 1];
  }
  void record_sharer(const PlacedShare& share, Time end);

  const ClusterState& state_;
  const ClusterIndex& index_;
  ExpectedReleases& releases_;
  Time now_;
  Time horizon_;
  mutable std::vector<std::uint32_t> slots_;  // by node: position in nodes_ plus 1; 0: none
  mutable std::deque<NodeProfile> nodes_;
  std::unordered_map<NodeIndex, std::vector<Arrival>> arrived_;  // started in this pass
  // on nodes without steps of their own
  std::unordered_map<NodeIndex, std::vector<Started>> started_;
  std::unordered_map<NodeIndex, std::vector<Sharer>> sharers_;
  Bitset touched_;  // the nodes for which touched() is true
  Bitset planned_nodes_;
  bool any_planned_start_ = false;
  bool any_exclusive_user_ = false;
};

}  // namespace ares::core::sched
