// Profile: what each node will have free, from now on, as running jobs reach their limits and
// reservations begin and end. Owned by one pass; not thread-safe. Times beyond every known end are
// the last step.
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

// One node's free amounts as a step function of time: sorted times, and one row of amounts each.
class NodeProfile {
 public:
  NodeProfile(Time now, const Amounts& free);

  // From then on so much more. Quickest where no step begins later.
  void release(Time from, std::span<const std::int64_t> amounts);

  // From `from` until `to` (nullopt: for ever) so much less, or more with negative amounts.
  void take(Time from, std::optional<Time> to, std::span<const std::int64_t> amounts);

  // Marks that free amounts may fall again later (a promise), so that a window has to be looked at whole.
  void set_falls() { falls_ = true; }
  bool falls() const { return falls_; }

  // The least free at any moment of [from, to). Written to `out`, of the profile's stride.
  void min_free(Time from, std::optional<Time> to, std::span<std::int64_t> out) const;

  // Tells visit(time, free amounts) what is free at `from`, then of every later step, until it returns false.
  template <class Visit>
  void each_step(Time from, Visit&& visit) const {
    const std::size_t first = step_at(from);
    for (std::size_t step = first; step < times_.size(); ++step)
      if (!visit(step == first ? from : times_[step],
                 std::span(rows_).subspan(step * stride_, stride_)))
        return;
  }

 private:
  std::size_t step_at(Time at) const;  // last step that begins at or before `at`
  std::size_t split_at(Time at);       // a step that begins at `at`, made if need be

  std::size_t stride_;
  std::vector<Time> times_;
  std::vector<std::int64_t> rows_;
  bool falls_ = false;
};

class Profile {
 public:
  // Every charge lasts until its job's expected end; one whose end nobody knows, until `horizon()`. Only nodes on which the
  // pass itself starts or promises something get steps of their own; of all others `releases` tell. All must outlive the
  // profile.
  Profile(const ClusterState& state, const ClusterIndex& index, ExpectedReleases& releases,
          Time now);

  Time now() const { return now_; }
  // Stands for "when what has no limit ends": far, but still a time, so that waiting jobs keep
  // their turn.
  Time horizon() const { return horizon_; }

  // The least that the node has free at any moment of [from, to), from >= now. `out` has the index's stride.
  void min_free(NodeIndex node, Time from, std::optional<Time> to,
                std::span<std::int64_t> out) const;

  // Tells visit(time, free amounts) what the node has at `from` and of every later change, ascending, until it returns false.
  // The amounts lie in `row`, of the index's stride. From >= now.
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

  // Of a node that is not touched: tells visit(end, free amounts) what it has free for good after each end as it is recorded, however
  // long ago that was; Time::max() stands for nobody knows. Ascending, until it returns false.
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
  const ExpectedReleases& releases() const { return releases_; }
  // Whether what each_end() tells of the node is so at this time only.
  bool time_dependent(NodeIndex node) const {
    return releases_.of(node, state_, index_, now_).time_dependent;
  }
  // An end as this pass sees it.
  Time effective_end(Time end) const;

  // Whether something was started or promised there, or taken away, by the pass.
  bool touched(NodeIndex node) const { return touched_.test(node); }
  const Bitset& touched() const { return touched_; }
  // Whether somebody was started who keeps nodes to himself.
  bool any_exclusive_user() const { return any_exclusive_user_; }

  // Whether the node may have less free at some time than before.
  bool falls(NodeIndex node) const { return has_planned_start(node); }

  // Whether a job was promised the node later on.
  bool has_planned_start(NodeIndex node) const {
    return any_planned_start_ && planned_nodes_.test(node);
  }
  bool any_planned_start() const { return any_planned_start_; }
  const Bitset& nodes_with_planned_starts() const { return planned_nodes_; }

  // When a job that starts at `from` is certain to have let go; nullopt = never. What starts
  // without a limit must leave every reservation alone, for nobody knows when it ends.
  static std::optional<Time> end_of(Time from, std::optional<Seconds> limit);

  // Whether whoever is on the node at that time lets the caller in, and reservations let it stay until `to`. Who wants to be alone
  // keeps off nodes promised to others.
  // As if those in `gone` were not there.
  bool admits(NodeIndex node, const AccessRequest& access, Time from, std::optional<Time> to,
              const std::set<AttemptKey>* gone = nullptr) const;

  // A job that starts now; the index no longer counts what it takes as free.
  void start(const Placement& placement, std::optional<Seconds> limit, const JobSpec& spec);
  // When the last of those who have parts of the device, or were given them in this pass, is expected to have let go; none: nobody has
  // any, or nobody can tell.
  std::optional<Time> shared_until(NodeIndex node, GpuIndex gpu) const;
  // A promise for later.
  void add_planned_start(const Placement& placement, Time from, std::optional<Seconds> limit) {
    add_planned_start_until(placement, from, end_of(from, limit));
  }
  void add_planned_start_until(const Placement& placement, Time from, std::optional<Time> to);
  // What would have come free at `end` (none: nobody knows) comes free at `from`.
  void release_early(NodeIndex node, Time from, std::optional<Time> end, const Amounts& amounts);

 private:
  struct Started {  // in this pass
    Time end;
    Amounts amounts;
    std::optional<Time>
        from{};  // the index counts it as taken from that time on only; none: from now on
  };
  struct Sharer {  // likewise
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
  mutable std::vector<std::uint32_t> slots_;  // by node: where in nodes_, from 1; 0 = nowhere
  mutable std::deque<NodeProfile> nodes_;
  std::unordered_map<NodeIndex, std::vector<Arrival>> arrived_;  // in this pass
  std::unordered_map<NodeIndex, std::vector<Started>> started_;  // on nodes without steps yet
  std::unordered_map<NodeIndex, std::vector<Sharer>> sharers_;
  Bitset touched_;  // something was started or promised there
  Bitset planned_nodes_;
  bool any_planned_start_ = false;
  bool any_exclusive_user_ = false;
};

}  // namespace ares::core::sched
