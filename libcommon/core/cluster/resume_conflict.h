// Whether a suspended job can get back the CPUs that it released. Used by the command, the
// scheduler and the check of its plans. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/engine/state.h"

namespace ares::core {

// A share that the same command or plan allocates in addition to the state.
struct PlannedShare {
  JobKey key;
  const NodeShare* share = nullptr;
};

// Why the job cannot resume now, for the first of its nodes with a conflict.
struct ResumeConflict {
  NodeId node;
  std::uint64_t needed = 0, free = 0;  // thousandths of CPUs
  std::vector<JobKey> by;              // jobs that hold CPUs there, ascending
};

// None if it can resume: each of its nodes has as many CPUs as it needs, also its own CPU ids if it
// has any, free and not reserved by preemption claims. Precondition: its CPUs are released.
std::optional<ResumeConflict> resume_conflict(const ClusterState& state, const Job& job, Time now,
                                              std::span<const PlannedShare> planned_shares = {});

// "2 of the 4 CPUs that it needs on node n1 are free; held by job 13, 14".
std::string resume_conflict_text(const ClusterState& state, const ResumeConflict& conflict);

}  // namespace ares::core
