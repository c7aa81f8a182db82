// estimate_start(): when a job would start if it were submitted now. Pure: works on a copy of the state, which it throws away.
// Costs a planner's pass over the whole queue; any thread.
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
  std::optional<Time> start;     // none: nobody can tell (held, waits for another job, never)
  bool at_the_earliest = false;  // others wait before it and were not reckoned with
  std::string partition;
  std::vector<std::string> nodes;  // empty where they cannot be told
  std::uint32_t cpus = 0;
  PendingInfo waiting;                // why it would not start at once
  std::optional<JobExplanation> why;  // the same in full; none: it would
};

// Refused exactly as the submission would be.
Result<StartEstimate> estimate_start(const ClusterState& state, const Policy& policy,
                                     const Principal& who, const Submit& submit, Time now);

}  // namespace ares::core
