// Converts core::JobExplanation to the API. Pure; any thread.
#pragma once

#include "core/sched/why/explanation.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// Sets all fields except the job. `state`: the one that was explained, for node names.
void to_api(const core::JobExplanation& why, const ClusterState& state, api::Explanation& out);

}  // namespace ares::aresctld
