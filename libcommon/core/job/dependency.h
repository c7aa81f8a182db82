// What a job waits for, and whether that has come. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// Whose dependency it is: aftercorr and singleton depend on that.
struct Dependent {
  JobKey key;
  const JobSpec& spec;
};
struct DependencyStatus {
  enum Kind { waiting, met, failed };
  Kind kind = waiting;
  Time not_before{};  // when met: the end of its delay; zero without one
};
// An array that waits task by task (aftercorr) is itself always waiting: its tasks are asked about one by one.
DependencyStatus dependency_status(const ClusterState& state, const Dependent& who,
                                   const Dependency& dependency);
// Whether tasks of that array answer for tasks of this one.
bool waits_task_by_task(const ClusterState& state, const Dependent& who,
                        const Dependency& dependency);

// Whether all of the job, or array, has started, or ended without ever having.
bool has_begun(const ClusterState& state, const JobKey& key);

// The first of `jobs` (jobs, arrays or tasks) that waits for `target`, by itself or through others, or that is part of it. One
// search for all of them: each record is looked at once.
std::optional<JobKey> first_waiting_for(const ClusterState& state, const std::vector<JobKey>& jobs,
                                        const JobKey& target);

}  // namespace ares::core
