// estimate_start(): when a job would start if it were submitted now. Pure: works on a temporary
// copy of the state. Costs a planner's pass over the whole queue; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/sched/why/explanation.h"
#include "model/engine/command.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

struct StartEstimate {
  // None: not known, because the job is held, waits for another job, or can never run.
  std::optional<Time> start;
  // Other jobs come before it and were not taken into account.
  bool at_the_earliest = false;
  std::string partition;
  std::vector<std::string> nodes;  // empty if not known
  std::uint32_t cpus = 0;
  PendingInfo waiting;  // why it would not start at once
  // The complete explanation; none if it would start at once.
  std::optional<JobExplanation> why;
};

// Refused with the same errors as the submission itself.
Result<StartEstimate> estimate_start(const ClusterState& state, const Policy& policy,
                                     const Principal& who, const Submit& submit, Time now);

}  // namespace ares::core
