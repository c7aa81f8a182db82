// find_joint_start(): the earliest time at which all members of a gang fit beside each other. Pure;
// works on the index and profile of one pass.
#pragma once

#include <optional>
#include <vector>

#include "core/sched/pass/start_group.h"
#include "core/sched/time/backfill.h"

namespace ares::core::sched {

// A planned start of a group.
struct JointStart {
  Time at{};
  std::vector<Placement> placements;  // one for each member
};

// `classes`: of the members, for a member with alternatives that of the alternative to wait for.
// `from`: the earliest permitted time.
std::optional<JointStart> find_joint_start(const StartGroup& group,
                                           const std::vector<JobClass*>& classes,
                                           const ClusterIndex& index, const Profile& profile,
                                           SearchBudget& work, Time from);

}  // namespace ares::core::sched
