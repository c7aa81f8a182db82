// permit(): whether jobs with placements may start. The members of a gang are permitted together or
// not at all, every other job alone. Pure; the last check before a group of starts is added to the
// plan.
#pragma once

#include <span>
#include <string>

#include "core/sched/place/plugin_classes.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core::sched {

struct Permit {
  bool granted = false;
  // Why not, for example "3 of 4 members of gang train are here".
  std::string reason;
};

// `members` are to start together: one job, or the members of one gang.
Permit permit(const ClusterState& state, std::span<const ProposedStart> members);

}  // namespace ares::core::sched
