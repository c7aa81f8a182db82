// The kinds of changes to a job that could let it start sooner; each kind is one row of a table.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::sched {

// One kind of change. Steps count from 1, the smallest; each step requests less than the one
// before.
struct ChangeKind {
  std::uint64_t steps = 1;
  std::function<void(std::uint64_t step, JobSpec& spec, Job& job)> apply;
  // In the form that asub accepts.
  std::function<std::string(const Job& changed)> text;
  bool shortens = false;  // shortens the time limit
};

// Kinds that make sense for the job in the partition, in the order in which they are shown.
std::vector<ChangeKind> change_kinds_of(const Job& job, const Partition& partition,
                                        ClusterIndex& index);

// The job with that step applied.
Job changed(const Job& job, const ChangeKind& kind, std::uint64_t step);

// The job without the conditions that keep it from being considered whatever is free: a hold, a
// dependency, a begin time, a deadline that can no longer be met, an array throttle. Each removed
// condition is described in one text for users.
struct UnblockedJob {
  Job job;
  std::vector<std::string> texts;
};
UnblockedJob unblock(const Job& job, bool throttled, Time now);

}  // namespace ares::core::sched
