// Texts about preemption for the users of waiting jobs. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

// For example "waits until 2 jobs that it preempts have ended: 12, 15_3; 1 of them has".
std::string preemption_text(const ClusterState& state, const PreemptionClaim& claim);

// Why a job that could preempt others may not do so now, and until when. Empty: it may, or could
// not preempt anyway.
struct PreemptionDenial {
  std::string text;
  std::optional<Time> until;
};
PreemptionDenial preemption_denial(const ClusterState& state, const Policy& policy, const Job& job,
                                   Time now);

}  // namespace ares::core::sched
