// CandidateStartTimes: when a demand may come to fit. Tells one by one, ascending, at which times enough nodes may have room for long
// enough, from what each node will have free; whether it fits then is for fit() to say. Lives for one question; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "core/sched/place/search.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

class CandidateStartTimes {
 public:
  // For a job of that limit (none = unlimited), from `from` or now on, whichever is later. All must outlive it.
  CandidateStartTimes(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                      const ClusterIndex& index, const Profile& profile, Time from);

  // The i-th; none if there are not so many.
  std::optional<Time> at(std::size_t i);
  // How many have been told.
  std::size_t count() const { return times_.size(); }

  // Nodes that may have room at one of those told; ascending. All of the set where some are required.
  NodeSet nodes();

 private:
  struct Event {
    Time at;
    NodeIndex node = 0;
    std::int32_t nodes = 0;  // by how many more, or fewer,
    std::int64_t tasks = 0;  // and tasks
    bool counts = false;     // it may fit from then on, though it did not before
    bool operator<(const Event& other) const {
      return at > other.at;
    }  // a heap has the first on top
  };

  void add(NodeIndex node);
  void add_rising(NodeIndex node);
  void add_falling(NodeIndex node);
  void change(Time at, NodeIndex node, std::int64_t& had, std::int64_t has, bool every);
  std::int64_t tasks_on(std::span<const std::int64_t> free,
                        std::span<const std::int64_t> total) const;
  void record_filled(Time at);

  const Demand& demand_;
  const std::optional<Seconds> limit_;
  const std::span<const NodeIndex> set_, required_;
  const ClusterIndex& index_;
  const Profile& profile_;
  const Time from_;
  std::vector<TypedDemand> types_;  // the demand as each type of GPUs that it may get
  std::int64_t most_ = 1;           // tasks on one node; more make no difference
  bool every_change_ = false;       // what fits is not told by counting nodes and tasks alone
  bool every_fall_ = false;         // not on nodes where what is free falls again

  std::vector<std::int64_t> row_;  // to reckon in
  std::vector<Event> events_;      // a heap
  std::priority_queue<Time>
      filled_;  // the first times at which as many nodes as are needed have room for all that matters
  std::int64_t nodes_now_ = 0, tasks_now_ = 0;
  Bitset seen_;
  std::vector<NodeIndex> seen_list_;
  std::size_t listed_ = 0;  // of seen nodes
  std::size_t seen_count_ = 0;
  std::vector<Time> times_;
};

}  // namespace ares::core::sched
