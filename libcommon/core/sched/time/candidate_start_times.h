// CandidateStartTimes: the times at which a demand may fit. Derived from the future free amounts of
// each node; returns, one by one and ascending, the times at which enough nodes may have enough
// free for long enough. fit() decides whether the demand really fits. Lives for one search; not
// thread-safe.
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
  // For a job with that time limit (none: unlimited). Times start at `from` or now, whichever is
  // later. All arguments must outlive the object.
  CandidateStartTimes(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                      const ClusterIndex& index, const Profile& profile, Time from);

  // The i-th candidate time; none if there are fewer.
  std::optional<Time> at(std::size_t i);
  // Number of times that were returned so far.
  std::size_t count() const { return times_.size(); }

  // Nodes that may have enough free at one of the returned times; ascending. The whole set if some
  // nodes are required.
  NodeSet nodes();

 private:
  struct Event {
    Time at;
    NodeIndex node = 0;
    // Change of the number of suitable nodes.
    std::int32_t nodes = 0;
    // Change of the number of tasks that they hold.
    std::int64_t tasks = 0;
    // The demand may fit from then on, though it did not before.
    bool counts = false;
    bool operator<(const Event& other) const {
      return at > other.at;
      // Makes a heap with the first event on top.
    }
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
  // The demand once for each GPU type that it may get.
  std::vector<TypedDemand> types_;
  // Most tasks on one node; more make no difference.
  std::int64_t most_ = 1;
  // Counting nodes and tasks is not enough to know whether the demand fits.
  bool every_change_ = false;
  // The same, but only for nodes whose free amounts fall again.
  bool every_fall_ = false;

  std::vector<std::int64_t> row_;  // scratch row
  std::vector<Event> events_;      // a heap
  // The first times at which the required number of nodes each has enough free.
  std::priority_queue<Time> filled_;
  std::int64_t nodes_now_ = 0, tasks_now_ = 0;
  Bitset seen_;
  std::vector<NodeIndex> seen_list_;
  std::size_t listed_ = 0;  // nodes of seen_list_ that were listed
  std::size_t seen_count_ = 0;
  std::vector<Time> times_;
};

}  // namespace ares::core::sched
