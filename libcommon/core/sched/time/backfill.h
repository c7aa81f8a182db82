// Search for the earliest start of a demand, and for placements that stay free for some time, with
// planned starts taken into account. Pure; works on the profile of one pass.
#pragma once

#include <cstdint>
#include <optional>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/search.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

// Whether a part of a GPU may be placed on a GPU that jobs share already. Only a job that starts
// now may do that. A planned start gets a GPU of its own, so that no sharer can delay it.
enum class JoinShared : std::uint8_t { never, now };

// A placement on resources that stay free during all of [from, to).
std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     SearchBudget& work, JoinShared joining = JoinShared::never);

// Whether any of the nodes has a planned start, so that resources that are free now may be needed
// later.
bool has_planned_start(NodeSet set, const Profile& profile);
bool has_planned_start(const Placement& placement, const Profile& profile);

struct EarliestStart {
  Time at{};
  Placement placement;
};

// The earliest start at or after both now and `from`; nothing if the budget ran out or the demand
// never fits.
std::optional<EarliestStart> find_earliest_start(const Demand& demand, std::optional<Seconds> limit,
                                                 NodeSet set, const ClusterIndex& index,
                                                 const Profile& profile, SearchBudget& work,
                                                 Time from = Time::min());

// Raises the amounts of a planned start to what its demand needs on each node. With limits every
// node must be able to take an even share, but where the tasks do not divide evenly the last nodes
// get less. If only that smaller amount were kept free, another job could take the rest of such a
// node, which would then no longer qualify at the planned time.
void expand_to_even_shares(const Demand& demand, const ClusterIndex& index, Placement& placement);

// Raises the amounts of a planned start to everything that its job needs to be certain to start:
// even shares, whole nodes for an exclusive job, and all GPUs of a node where only some are linked
// as requested.
void expand_planned_start(const Demand& demand, std::optional<Seconds> limit,
                          const ClusterIndex& index, const Profile& profile,
                          EarliestStart& planned);

}  // namespace ares::core::sched
