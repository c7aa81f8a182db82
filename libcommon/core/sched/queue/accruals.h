// Accruals: the attempts that held resources at a given moment and whose use until then is not
// stored yet. Kept from pass to pass and updated with changes. Part of a Ranking; not thread-safe.
// An attempt that ended after that moment still counts, from its record, with its use until then.
// The result for one moment therefore does not change when jobs end, only when a record is removed
// or its job runs again.
#pragma once

#include <map>
#include <optional>

#include "core/fairness/tree.h"
#include "model/engine/state.h"

namespace ares::core::sched {

class Accruals {
 public:
  // Collects every attempt that counts as of `moment` or will count as of a later one.
  void fill(const ClusterState& state, Time moment);

  // Applies the changes since `before`. Returns whether what counts as of `moment` changed.
  bool update(const ClusterState& before, const ClusterState& after, Time moment);

  // Results of a ranking that stay valid for an attempt until its job changes.
  struct Cached {
    // None: not looked up yet.
    std::optional<std::optional<fairness::TreeIndex>> account_node;
  };

  // Calls visit(job, cached) for each attempt that counts, by key. It held its allocation from its
  // start until the moment.
  template <class Visit>
  void each(const ClusterState& state, Time moment, Visit&& visit) {
    CowMap<JobKey, Job>::NearbyLookup jobs(state.jobs);
    for (auto& [key, cached] : attempts_) {
      const Job* job = jobs.find(key);
      if (job && counts(*job, moment)) visit(*job, cached);
    }
  }

  // Removes the attempts that ended by then.
  void move_on(const ClusterState& state, Time moment);

 private:
  static bool may_count(const Job& job, Time moment);
  static bool counts(const Job& job, Time moment);

  std::map<JobKey, Cached> attempts_;
};

}  // namespace ares::core::sched
