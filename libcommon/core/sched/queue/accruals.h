// Accruals: the attempts whose use, as of one moment, nobody has stored yet: they held resources then. Kept from pass to pass by
// what changed. Part of a Ranking; not thread-safe.
//
// An attempt that ended after that moment still counts, from its record, as what it had used until then: the answer for one
// moment does not change while jobs end, only when a record is forgotten or its job runs again.
#pragma once

#include <map>
#include <optional>

#include "core/fairness/tree.h"
#include "model/engine/state.h"

namespace ares::core::sched {

class Accruals {
 public:
  // Every attempt that counts as of `moment`, or will as of a later one.
  void fill(const ClusterState& state, Time moment);

  // From what it was for `before`. True: what counts as of `moment` is not what it was.
  bool update(const ClusterState& before, const ClusterState& after, Time moment);

  // Of an attempt whatever a ranking finds out that holds as long as its job does not change.
  struct Cached {
    std::optional<std::optional<fairness::TreeIndex>> account_node;  // none: not looked for yet
  };

  // visit(job, noted) for each attempt that counts, by key: it held what was allocated from then until the moment.
  template <class Visit>
  void each(const ClusterState& state, Time moment, Visit&& visit) {
    CowMap<JobKey, Job>::NearbyLookup jobs(state.jobs);
    for (auto& [key, cached] : attempts_) {
      const Job* job = jobs.find(key);
      if (job && counts(*job, moment)) visit(*job, cached);
    }
  }

  // Lets go of those that ended by then.
  void move_on(const ClusterState& state, Time moment);

 private:
  static bool may_count(const Job& job, Time moment);
  static bool counts(const Job& job, Time moment);

  std::map<JobKey, Cached> attempts_;
};

}  // namespace ares::core::sched
