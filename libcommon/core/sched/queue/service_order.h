// ServiceOrder: the queue's entries in the order in which one pass serves them. Most are served as
// sorted. Where dominant shares of running usage decide, the least served user comes next, and each
// start changes that order. Lives for one pass; not thread-safe.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/fairness/drf.h"
#include "core/sched/place/fit.h"
#include "core/sched/queue/order.h"
#include "core/sched/queue/ranking.h"

namespace ares::core::sched {

class ServiceOrder {
 public:
  // All arguments must outlive the object, and the entries must stay in place.
  ServiceOrder(std::vector<Queued>& entries, const Ranking& ranking, const ClusterIndex& index);

  // Null at the end.
  Queued* next() {
    if (ranking_.any_served_by_user()) return next_by_share();
    while (at_ < entries_.size() && !entries_[at_].entry.job) ++at_;
    return at_ == entries_.size() ? nullptr : &entries_[at_++];
  }

  // Skips the next entries for which skips(position) is true, if entries are served as sorted.
  template <class Skips>
  void skip(Skips&& skips) {
    if (ranking_.any_served_by_user()) return;
    while (at_ < entries_.size() && skips(at_)) ++at_;
  }

  // Counts what was started for the last entry for its user from then on.
  void add_allocated(const JobSpec& spec, const Placement& placement);
  // Called when one task of the last entry has started and it has more. Returns true if these wait
  // for the user's next turn.
  bool defer_current();

 private:
  struct Group {  // one user
    std::size_t at = 0, end = 0;
    std::uint64_t weight = 0;
  };

  Queued* next_by_share();
  void begin_filling();
  void settle();
  fairness::DominantShare share_of(const Group& group) const;

  std::vector<Queued>& entries_;
  const Ranking& ranking_;
  const ClusterIndex& index_;
  std::size_t at_ = 0;
  std::unordered_map<UserId, Amounts> allocated_;  // in this pass
  Amounts capacity_;                               // of the cluster

  std::optional<fairness::ProgressiveFilling> filling_;
  std::vector<Group> groups_;
  std::optional<fairness::ProgressiveFilling::User> current_;  // a group
  bool started_ = false;
  bool deferred_ = false;
};

}  // namespace ares::core::sched
