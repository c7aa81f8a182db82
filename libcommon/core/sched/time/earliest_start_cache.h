// CapacityTimeline and EarliestStartCache: when, and on which nodes, a demand may fit as running
// jobs reach their time limits. Kept from pass to pass; only nodes that changed are read again. For
// demands where counting nodes and tasks is sufficient.
// Owned by a Planner; not thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "core/sched/place/shortlist.h"
#include "core/sched/time/backfill.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

class CapacityTimeline {
 public:
  // The demand and the set must outlive the timeline and must not change.
  CapacityTimeline(const Demand& demand, NodeSet set, const ClusterIndex& index);

  // Updates the timeline to the profile. Precondition: no node of the set has a planned start.
  void update(const Profile& profile);

  // The first time at or after `from` at which there are enough nodes and tasks.
  std::optional<Time> first(Time from, const Profile& profile) const;

  // Tasks that each node can take at that time, by NodeIndex; 0 for nodes outside the set.
  std::vector<std::uint32_t> tasks_at(Time at, const Profile& profile) const;

 private:
  // As recorded; it may be past.
  struct Step {
    // When the node can take more tasks, as recorded. It may be past.
    Time end;
    std::uint32_t tasks = 0;
    bool first = false;  // it could take none before
  };
  struct Event {
    Step step;
    NodeIndex node = 0;
    std::uint32_t version = 0;  // entries with another version of the node are outdated
  };
  // A bucket of steps that are close in time. The sums leave out outdated steps.
  struct Bucket {
    std::int64_t tasks = 0, nodes = 0;
    std::size_t outdated = 0;
    std::vector<Event> events;
  };
  struct NodeSteps {
    std::uint32_t version = 0;
    std::uint32_t tasks_now = 0;
    std::vector<Step> steps;
  };

  void forget(NodeIndex node);
  void read(NodeIndex node, const Profile& profile);
  void add(NodeIndex node, const Step& step);
  bool is_outdated(const Event& event) const { return event.version != nodes_[event.node].version; }
  bool enough(std::int64_t nodes, std::int64_t tasks) const {
    return nodes >= demand_.min_nodes && tasks >= demand_.tasks;
  }

  const Demand& demand_;
  const NodeSet set_;
  const ClusterIndex& index_;
  const Capacity capacity_;
  std::vector<NodeSteps> nodes_;  // by NodeIndex
  std::map<std::int64_t, Bucket> buckets_;
  std::int64_t nodes_now_ = 0, tasks_now_ = 0;
  bool built_ = false;
  // positions in the logs of the index and the releases
  std::uint64_t index_seen_ = 0, releases_seen_ = 0;
  std::vector<NodeIndex> transient_;  // nodes whose data is valid for this pass only
  Amounts row_;                       // scratch row
};

// Timelines of the demands that had planned starts lately. A demand is identified by its address.
class EarliestStartCache {
 public:
  // Same result as find_earliest_start() in time/backfill.h; uses a timeline where possible.
  std::optional<EarliestStart> find(const Demand& demand, NodeSet set, std::optional<Seconds> limit,
                                    const ClusterIndex& index, const Profile& profile,
                                    SearchBudget& work, Time from);
  // Called when demands are made again and their addresses become invalid.
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    Entry(const Demand& of, NodeSet set, const ClusterIndex& index)
        : demand(&of), generation(index.generation()), timeline(of, set, index) {}
    const Demand* demand;
    std::uint64_t generation;
    CapacityTimeline timeline;
  };
  CapacityTimeline& of(const Demand& demand, NodeSet set, const ClusterIndex& index);

  std::list<Entry> entries_;  // most recently used first
};

}  // namespace ares::core::sched
