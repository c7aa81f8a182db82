// Who may be ended so that whom can start, and how often: the one place that the scheduler and the check of its plans ask. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "model/policy.h"
#include "model/state.h"

namespace ares::core {

// So long after the end of the victims' grace what they leave is still kept for the job they were ended for.
inline constexpr Seconds kEarmarkSlack{120};

// Whether jobs of that partition may preempt any others at all.
bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition);

// Whether the pending job may have others ended now: it is not on its way back from having been preempted itself, and nobody is
// being ended for it already. A gang's member may not: it starts with the others.
bool may_preempt(const Job& job, Time now);

inline bool is_binding(const Job& job, Time now) {
  return is_earmarked(job) && now < job.earmark->until;
}

// From when on `victim` may be ended so that `job` can start in `partition`; none: never. It runs, its partition allows it, that
// has a lower tier (or, if the site says so, is the same and its QOS is lower by the gap), and it has run for the least age.
std::optional<Time> preemptible_from(const ClusterState& state, const Policy& policy,
                                     const JobSpec& job, const Partition& partition,
                                     const Job& victim);

// Whether it is suspended, not ended: its partition's way. Then it gives nothing but CPUs.
bool lends_cpus(const ClusterState& state, const Job& victim);

// Of its QOS; 0 for one that the site gives none.
std::uint32_t qos_priority(const ClusterState& state, const Policy& policy, const JobSpec& spec);

// How many more jobs may be ended now for jobs of that user.
struct EvictionsLeft {
  std::uint32_t count = 0;
  std::optional<Time> more_at;  // when there may be more; none: nothing is used up yet
};
EvictionsLeft evictions_left(const ClusterState& state, const Policy& policy, UserId user,
                             Time now);

// How the victim ends. Precondition: it is preemptible.
Ending eviction_of(const ClusterState& state, const Policy& policy, const Job& victim,
                   const JobKey& by, Time now);

}  // namespace ares::core
