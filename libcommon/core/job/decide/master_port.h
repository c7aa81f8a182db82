// Choice of the port by which the tasks of an attempt find each other (MASTER_PORT). Pure; engine thread.
#pragma once

#include <cstdint>

#include "core/job/decide/plan/plan_claims.h"
#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// A port that no attempt has which is charged to the start's first node, nor one that the plan starts
// there. 0: the attempt has one task on one node, or all ports are taken.
std::uint16_t choose_master_port(const PortRange& range, const ClusterState& state, const Job& job,
                                 const Start& start, PlanClaims& claims);

}  // namespace ares::core
