// The earliest start of a demand, and searches of what stays free for a time, beside what is promised. Pure; works on one pass's profile.
#pragma once

#include <cstdint>
#include <optional>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/search.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

// Whether a part of a GPU may be of one that others have parts of by now: of whoever starts at once. What is promised is a GPU of its own,
// so that it is never late.
enum class JoinShared : std::uint8_t { never, now };

// On what stays free for the whole of [from, to).
std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     SearchBudget& work, JoinShared joining = JoinShared::never);

// Whether a promise lies on any of the nodes, so that what is free now may be needed later.
bool has_planned_start(NodeSet set, const Profile& profile);
bool has_planned_start(const Placement& placement, const Profile& profile);

struct EarliestStart {
  Time at{};
  Placement placement;
};

// The earliest start from now on, not before `from`; nothing if the work ran out or it never fits.
std::optional<EarliestStart> find_earliest_start(const Demand& demand, std::optional<Seconds> limit,
                                                 NodeSet set, const ClusterIndex& index,
                                                 const Profile& profile, SearchBudget& work,
                                                 Time from = Time::min());

// Raises what a promise keeps free to what its demand asks of each node: with limits every node must be able to take an even share,
// though where shares cannot be equal the last ones take less. If only that were kept, somebody could take the rest of such
// a node, and it would do no more when the time has come.
void expand_to_even_shares(const Demand& demand, const ClusterIndex& index, Placement& placement);

// Raises what a promise keeps free to all that it must keep for its job to start for certain: even shares, the whole node of whoever
// wants to be alone, and GPUs of which only some are linked as asked.
void expand_planned_start(const Demand& demand, std::optional<Seconds> limit,
                          const ClusterIndex& index, const Profile& profile,
                          EarliestStart& planned);

}  // namespace ares::core::sched
