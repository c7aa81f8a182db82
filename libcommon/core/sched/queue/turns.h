// Turns: the queue's entries in the order in which one pass serves them. Most come as they are sorted; where dominant shares of what
// runs decide, the least served user is next, and each start changes that. Lives for one pass; not thread-safe.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/fairness/drf.h"
#include "core/sched/place/fit.h"
#include "core/sched/queue/order.h"
#include "core/sched/queue/ranking.h"

namespace ares::core::sched {

class Turns {
 public:
  // All must outlive it, and the entries stay where they are.
  Turns(std::vector<Queued>& entries, const Ranking& ranking, const ClusterIndex& index);

  // Null at the end.
  Queued* next() {
    if (ranking_.any_turns()) return next_in_turn();
    while (at_ < entries_.size() && !entries_[at_].entry.job) ++at_;
    return at_ == entries_.size() ? nullptr : &entries_[at_++];
  }

  // Passes over those next ones for which skips(position) is true, where they come as they are sorted.
  template <class Skips>
  void skip(Skips&& skips) {
    if (ranking_.any_turns()) return;
    while (at_ < entries_.size() && skips(at_)) ++at_;
  }

  // What is started of it counts for its user from then on.
  void took(const JobSpec& spec, const Placement& placement);
  // One task of the last entry has started, and it has more: true if they wait for another turn of the user.
  bool later();

 private:
  struct Group {  // of one user
    std::size_t at = 0, end = 0;
    std::uint64_t weight = 0;
  };

  Queued* next_in_turn();
  void begin_filling();
  void settle();
  fairness::DominantShare share_of(const Group& group) const;

  std::vector<Queued>& entries_;
  const Ranking& ranking_;
  const ClusterIndex& index_;
  std::size_t at_ = 0;
  std::unordered_map<UserId, Amounts> taken_;  // in this pass
  Amounts capacity_;                           // of the cluster

  std::optional<fairness::ProgressiveFilling> filling_;
  std::vector<Group> groups_;
  std::optional<fairness::ProgressiveFilling::User> turn_;  // a group
  bool started_ = false;
  bool stays_ = false;
};

}  // namespace ares::core::sched
