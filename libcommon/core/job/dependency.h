// Dependencies of jobs and their status. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// The job that depends: aftercorr needs its task, singleton its user and name.
struct Dependent {
  JobKey key;
  const JobSpec& spec;
};
struct DependencyStatus {
  enum Kind { waiting, met, failed };
  Kind kind = waiting;
  Time not_before{};  // if met: the end of its delay; zero without a delay
};
// An array that waits task by task (aftercorr) is always waiting; ask for its tasks instead.
DependencyStatus dependency_status(const ClusterState& state, const Dependent& who,
                                   const Dependency& dependency);
// Whether the dependency holds task by task: aftercorr of an array on another array.
bool waits_task_by_task(const ClusterState& state, const Dependent& who,
                        const Dependency& dependency);

// Whether all of the job or array has started, or ended without a start.
bool has_begun(const ClusterState& state, const JobKey& key);

// The first of `jobs` (jobs, arrays or tasks) that is part of `target` or waits for it, directly or
// through other jobs. One search for all of them: each record is visited once.
std::optional<JobKey> first_waiting_for(const ClusterState& state, const std::vector<JobKey>& jobs,
                                        const JobKey& target);

}  // namespace ares::core
