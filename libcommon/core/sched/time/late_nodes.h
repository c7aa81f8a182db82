// On which nodes a job is planned that cannot start yet: those that come free last, so that nodes that are free until then stay so for
// jobs that would not delay it. Pure; works on the profile of one pass.
#pragma once

#include <optional>

#include "core/sched/time/backfill.h"

namespace ares::core::sched {

// Moves a planned start to nodes that come free as late as its time allows. Its time stays the same, and so does its placement where no
// node of it is free now, where other nodes are too few, or where the budget runs out.
void move_to_late_nodes(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                        const ClusterIndex& index, const Profile& profile, SearchBudget& work,
                        EarliestStart& planned);

}  // namespace ares::core::sched
