// Whether a suspended job may have back the CPUs that it lends: the one place that the command, the scheduler and the check of
// its plans ask. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/engine/state.h"

namespace ares::core {

// A share that is taken on top of the state, by the same command or plan.
struct PlannedShare {
  JobKey key;
  const NodeShare* share = nullptr;
};

// Why it cannot go on now, on the first of its nodes where that is so.
struct ResumeConflict {
  NodeId node;
  std::uint32_t needed = 0, free = 0;
  std::vector<JobKey> by;  // who has CPUs there, ascending
};

// Nothing if it can: on each of its nodes as many CPUs are free as it was allocated, its own numbers among them where it has
// numbers, and nothing of it is kept for a job that others are ended for. Precondition: it lends its CPUs.
std::optional<ResumeConflict> resume_conflict(const ClusterState& state, const Job& job, Time now,
                                              std::span<const PlannedShare> planned_shares = {});

// "2 of the 4 CPUs that it needs on node n1 are free; held by job 13, 14".
std::string resume_conflict_text(const ClusterState& state, const ResumeConflict& conflict);

}  // namespace ares::core
