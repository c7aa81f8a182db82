// core::Why as the API tells it. Pure; any thread.
#pragma once

#include "core/sched/why/explanation.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// Fills in all but the job. `state`: of the same moment, for names of nodes.
void to_api(const core::JobExplanation& why, const ClusterState& state, api::Explanation& out);

}  // namespace ares::aresctld
