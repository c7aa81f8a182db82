// Forecast: when, and on which nodes, a demand may come to fit as running jobs reach their limits, kept from pass to pass and read
// again only of nodes to which something has happened. For demands of which counting nodes and tasks tells it all.
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
  // The demand and the set must outlive it, and stay as they are.
  CapacityTimeline(const Demand& demand, NodeSet set, const ClusterIndex& index);

  // Brings it to what the profile says. None of the set may be promised to anybody.
  void update(const Profile& profile);

  // The first moment, not before `from`, at which nodes and tasks are enough.
  std::optional<Time> first(Time from, const Profile& profile) const;

  // How many tasks each node can take then, by NodeIndex; 0 for nodes that are not of the set.
  std::vector<std::uint32_t> tasks_at(Time at, const Profile& profile) const;

 private:
  struct Step {  // a node has room for so many tasks more
    Time end;    // from then on; as recorded: it may be over
    std::uint32_t tasks = 0;
    bool first = false;  // it had none
  };
  struct Event {
    Step step;
    NodeIndex node = 0;
    std::uint32_t version = 0;  // another one of the node is outdated
  };
  // Of steps that lie near one another. Sums are of what is not outdated.
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
  std::uint64_t index_seen_ = 0, releases_seen_ = 0;  // of their logs
  std::vector<NodeIndex> transient_;  // what was read of them holds for that pass only
  Amounts row_;                       // to reckon in
};

// Those of the demands that were promised a start lately. A demand is told by its address.
class EarliestStartCache {
 public:
  // What earliest() says of the demand, from a forecast where that is possible.
  std::optional<EarliestStart> find(const Demand& demand, NodeSet set, std::optional<Seconds> limit,
                                    const ClusterIndex& index, const Profile& profile,
                                    SearchBudget& work, Time from);
  // Demands are made anew.
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

  std::list<Entry> entries_;  // the latest first
};

}  // namespace ares::core::sched
