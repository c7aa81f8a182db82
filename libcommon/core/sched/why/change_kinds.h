// What of a job could be otherwise so that it starts sooner: one row of a table for each kind of change. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::sched {

// One kind of change. Steps count from 1, the smallest; each asks for less than the one before.
struct ChangeKind {
  std::uint64_t steps = 1;
  std::function<void(std::uint64_t step, JobSpec& spec, Job& job)> apply;
  std::function<std::string(const Job& changed)> text;  // as asub takes it
  bool shortens = false;                                // the time limit
};

// Kinds that make sense for the job in the partition; in the order in which people are told.
std::vector<ChangeKind> change_kinds_of(const Job& job, const Partition& partition,
                                        ClusterIndex& index);

// The job with that step taken.
Job changed(const Job& job, const ChangeKind& kind, std::uint64_t step);

// What keeps the job from being looked at, whatever there is for it: a hold, a dependency, a time to begin, a deadline that is lost, as
// many tasks of the array as may run. Takes all of it away and says so in words for people, one each.
struct UnblockedJob {
  Job job;
  std::vector<std::string> texts;
};
UnblockedJob unblock(const Job& job, bool throttled, Time now);

}  // namespace ares::core::sched
