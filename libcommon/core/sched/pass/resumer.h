// Resumer: the turns of jobs that were suspended so that others could start. Each goes on as soon as its CPUs are free, before any
// job of its tier or a lower one starts; until then its turn is kept: nobody of those delays it. Lives for one pass, works on
// its index and profile; not thread-safe.
//
// The order is a function of the state: higher tier, longer suspended, key. Jobs of higher tiers come before it, so that one
// may stand still for as long as such jobs keep coming: that is what the tiers say.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/place/fit.h"
#include "core/sched/time/profile.h"
#include "model/engine/plan.h"

namespace ares::core::sched {

class Resumer {
 public:
  struct Pass {
    const ClusterState& state;
    ClusterIndex& index;
    Profile& profile;
    Time now;
  };
  explicit Resumer(const Pass& pass);

  // Whether somebody of that tier or a higher one has not had its turn.
  bool due(std::int32_t tier) const { return at_ < waiting_.size() && waiting_[at_].tier >= tier; }
  bool any_left() const { return at_ < waiting_.size(); }

  // What of the pass's index it has taken.
  struct Resumed {
    PlanGroup group;
    const Job* job = nullptr;
    Placement placement;
  };
  // The next one's turn; none: it has to wait, and is promised its turn.
  std::optional<Resumed> next();

 private:
  struct Waiting {
    const Job* job = nullptr;
    std::int32_t tier = 0;
  };

  std::optional<Placement> cpus_of(const Job& job) const;
  bool can_resume_now(const Job& job, const Placement& placement, std::optional<Time> end) const;
  bool reservations_allow(const Job& job, const Placement& placement) const;
  Time earliest_resume(const Job& job, const Placement& placement,
                       std::optional<Seconds> left) const;
  bool fits_at(const Placement& placement, Time from, std::optional<Seconds> left) const;
  Time others_end(const Job& job) const;

  const Pass pass_;
  std::vector<Waiting> waiting_;
  std::size_t at_ = 0;
};

}  // namespace ares::core::sched
