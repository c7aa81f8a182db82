// Resumer: resumes jobs that were suspended for other jobs. Each is resumed as soon as its CPUs are
// free, before any job of its tier or a lower one starts. Until then its resumption is planned, so
// that none of those jobs delays it. Lives for one pass and works on its index and profile; not
// thread-safe.
// The order is a function of the state: higher tier, longer suspended, key. Jobs of higher tiers
// come before a suspended job, so it may stay suspended as long as such jobs arrive. That is the
// purpose of tiers.
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

  // Whether a suspended job of that tier or a higher one has not been considered yet.
  bool due(std::int32_t tier) const { return at_ < waiting_.size() && waiting_[at_].tier >= tier; }
  bool any_left() const { return at_ < waiting_.size(); }

  // Amounts that it allocated in the pass's index.
  struct Resumed {
    PlanGroup group;
    const Job* job = nullptr;
    Placement placement;
  };
  // Considers the next suspended job. None: it has to wait, and its resumption is planned.
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
