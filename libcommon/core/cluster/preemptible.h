// Who may be ended so that whom can start, and how often: the one place that the scheduler and the check of its plans ask. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/state/indexes.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// So long after the end of the victims' grace what they leave is still kept for the job they were ended for.
inline constexpr Seconds kClaimSlack{120};

// Whether any jobs of that partition, whatever their QOS, may preempt any others at all; whether those like that one may.
bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition);
bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition,
              const JobSpec& spec);

// Whether the pending job may have others ended now: it is not on its way back from having been preempted itself, and nobody is
// being ended for it already. A gang's member may not: it starts with the others.
bool may_preempt(const Job& job, Time now);

inline bool is_binding(const Job& job, Time now) {
  return has_preemption_claim(job) && now < job.preemption_claim->until;
}

// How a job makes room for another: as its QOS says, else its partition. Off of one that holds nothing.
PreemptMode preempt_mode_of(const ClusterState& state, const Job& victim);

// From when on `victim` may be ended so that `job` can start in `partition`; none: never. It runs, it may make room, its partition
// has a lower tier or the same one and it is below the job there; and it has run for as long as it is exempt. Within a tier the QOS
// say who is below whom: those that preempt others by name do just that; between all others, if the site says so, one of the same
// partition is below whose QOS has the lower priority, by the gap. So nobody who was preempted can preempt him who did it. Within a
// tier nobody is suspended, for who stands still goes on before the jobs of his tier that wait.
std::optional<Time> preemptible_from(const ClusterState& state, const Policy& policy,
                                     const JobSpec& job, const Partition& partition,
                                     const Job& victim);

// From its SIGTERM to SIGKILL: as its QOS says, else the site.
Seconds eviction_grace(const ClusterState& state, const Policy& policy, const Job& victim);

// Whether it is suspended, not ended. Then it gives nothing but CPUs.
bool releases_only_cpus(const ClusterState& state, const Job& victim);

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
