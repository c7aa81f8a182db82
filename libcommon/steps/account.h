// StepAccount: what the manager of steps knows of one step for accounting. A value; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/job/step_record.h"
#include "steps/request.h"

namespace ares::steps {

struct StepAccount {
  std::uint32_t number = 0;
  std::string name;  // as asked for, or of the program
  std::uint32_t tasks = 0, cpus = 0;
  std::vector<std::uint32_t> nodes;  // ranks in the job, ascending
  StepState state = StepState::running;
  TaskEnd worst;  // the task that ended worst; only code and signal count
  bool cancelled = false;
  bool timed_out = false;
  std::optional<UserId> cancelled_by;
  // Of all tasks, and of those on the first node of the job; max_rss is that of one task.
  TaskEnd used, on_first;
  std::int64_t sum_rss = 0;
  std::uint32_t max_rss_node = 0;  // rank in the job
};

// Ends a step, or signals its tasks: what the node daemon asks of the step host.
struct StepCancel {
  std::uint32_t step = 0;
  std::int32_t signal = 0;  // 0 = end it: TERM, the kill_wait of the job, KILL
  UserId by;
  friend bool operator==(const StepCancel&, const StepCancel&) = default;
};
std::string encode(const StepCancel& cancel);
Result<StepCancel> decode_cancel(std::string_view text);

}  // namespace ares::steps
