// Rules of preemption, used by the scheduler and by the engine's check of its plans. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "core/state/indexes.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// How long after the end of the victims' grace their resources stay reserved for the preemptor.
inline constexpr Seconds kClaimSlack{120};

// Whether any job of the partition may preempt any other job; whether jobs like `spec` may.
bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition);
bool preempts(const ClusterState& state, const Policy& policy, const Partition& partition,
              const JobSpec& spec);

// Whether the pending job may preempt others now: not if it was preempted itself and has not
// started since, or if it has a valid preemption claim. A member of a gang only with all others.
bool may_preempt(const Job& job, Time now);

inline bool is_binding(const Job& job, Time now) {
  return has_preemption_claim(job) && now < job.preemption_claim->until;
}

// Whether the CPUs of the job are free for others while it is suspended. In a pod, Kubernetes counts them on.
bool can_be_suspended(const ClusterState& state, const Job& job);

// How it is preempted: by its QOS, else by its partition. `off` for a job without allocation, and for one that would be but cannot be
// suspended.
PreemptMode preempt_mode_of(const ClusterState& state, const Job& victim);

// When `victim` may be preempted at the earliest for `job` to start in `partition`; none: never.
// It must run, be preemptible and below the job, its exempt time must be over. Below: in a lower
// tier; or in the same tier by names, if the QOS of either job has any; else, if enabled, in the
// same partition by QOS priority and min_gap, so that a victim cannot preempt its preemptor. No job is
// suspended for its own tier: suspended jobs resume before pending jobs of their tier start.
std::optional<Time> preemptible_from(const ClusterState& state, const Policy& policy,
                                     const JobSpec& job, const Partition& partition,
                                     const Job& victim);

// Time from SIGTERM to SIGKILL: of the job's QOS, else the site's.
Seconds eviction_grace(const ClusterState& state, const Policy& policy, const Job& victim);

// Whether preemption suspends it and so frees only its CPUs.
bool releases_only_cpus(const ClusterState& state, const Job& victim);

// Priority of the job's QOS; 0 if the QOS has none.
std::uint32_t qos_priority(const ClusterState& state, const Policy& policy, const JobSpec& spec);

// How many more jobs may be preempted now for jobs of that user.
struct EvictionsLeft {
  std::uint32_t count = 0;
  std::optional<Time> more_at;  // when the count may grow; none: nothing is used up
};
EvictionsLeft evictions_left(const ClusterState& state, const Policy& policy, UserId user,
                             Time now);

// How the victim ends. Precondition: it is preemptible.
Ending eviction_of(const ClusterState& state, const Policy& policy, const Job& victim,
                   const JobKey& by, Time now);

}  // namespace ares::core
