// Why jobs of a shape wait, as text with numbers. Explainer and explain_job(), in why/, answer for one job.
// Pure; called once for each blocked shape of a pass.
#pragma once

#include <string>

#include "core/sched/queue/job_class.h"
#include "model/engine/plan.h"

namespace ares::core::sched {

// "needs 4 a100 on one node: 12 nodes have too few free GPUs, 3 drained".
std::string explain_blocked(const JobClass& job_class, const ClusterIndex& index);

// "free nodes are reserved before it could end: 3 in maint1, 1 in demo".
std::string explain_reserved(const JobClass& job_class, const ClusterIndex& index);

// What is free in all, where that makes a difference: "free in all: 12 CPUs, at most 3 on one node; of other types 8 h100". Empty
// if there is nothing to tell.
std::string explain_totals(const JobClass& job_class, ClusterIndex& index);

// `if_up`: it would fit if every node of the partition were up.
PendingInfo explain_impossible(const JobClass& job_class, const ClusterIndex& index, bool if_up);

// Of several partitions the one where it only waits its turn says most, and of these the one with the earliest start.
bool is_more_informative(const PendingInfo& info, const PendingInfo& than);

}  // namespace ares::core::sched
