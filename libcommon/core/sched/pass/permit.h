// permit(): whether jobs for which places were found may start: a gang all or nothing, every other job by itself.
// Pure; the last word before a group of starts goes into the plan.
#pragma once

#include <span>
#include <string>

#include "core/sched/place/plugin_classes.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core::sched {

struct Permit {
  bool granted = false;
  std::string reason;  // why not: "3 of 4 members of gang train are here"
};

// `members` are to start together: one job, or those of one gang.
Permit permit(const ClusterState& state, std::span<const ProposedStart> members);

}  // namespace ares::core::sched
