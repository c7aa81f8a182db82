// The steps that run, as aqueue --steps and `actl show step` list them: from what nodes told the controller
// with their last heartbeats. Owned by a command's main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/values/step_ids.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

// All pages of what running jobs use. `call` is that of the client.
using Call = std::function<Result<api::Response>(api::Request)>;
Result<api::RunningUse> read_use(const Call& call, api::ListUse filter);

struct RunningStep {
  std::string id;  // "12.0", "12.batch"
  std::string name, user, partition, node_list;
  std::uint32_t nodes = 0, cpus = 0, tasks = 0;
  std::int64_t started = 0;  // microseconds since 1970
};

// By job, the batch script first; only those named, if any job or step is.
std::vector<RunningStep> running_steps(const api::RunningUse& use, const JobOrStepIds& wanted);

}  // namespace ares::cli
