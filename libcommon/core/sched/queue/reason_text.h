// Texts with numbers for why jobs of a class wait. For a single job see Explainer and explain_job()
// in why/.
// Pure; called once for each blocked class of a pass.
#pragma once

#include <string>
#include <string_view>

#include "core/cluster/reservation_access.h"
#include "core/sched/queue/job_class.h"
#include "model/engine/plan.h"

namespace ares::core::sched {

// For example "needs 4 a100 on one node: 12 nodes have too few free GPUs, 3 drained".
std::string explain_blocked(const JobClass& job_class, const ClusterIndex& index);

// For a start within the window, for example "free nodes are reserved before it could end: 3 nodes in maint1, 1 node in demo".
// Empty: only reservations that the job asks for keep it out.
std::string explain_reserved(const JobClass& job_class, const ClusterIndex& index,
                             const AccessWindow& window);
inline constexpr std::string_view kNodesReserved = "free nodes are reserved before it could end";

// Total free amounts where they matter, for example "free in all: 12 CPUs, at most 3 on one node;
// of other types 8 h100". Empty if there is nothing to report.
std::string explain_totals(const JobClass& job_class, ClusterIndex& index);

// `if_up`: it would fit if all nodes of the partition were up.
PendingInfo explain_impossible(const JobClass& job_class, const ClusterIndex& index, bool if_up);

// Orders the reasons of a job with several partitions: a reason of a partition where it only waits
// for its turn is the most informative; of several such reasons the one with the earliest expected
// start.
bool is_more_informative(const PendingInfo& info, const PendingInfo& than);

}  // namespace ares::core::sched
