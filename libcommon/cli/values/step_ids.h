// Ids of jobs and of their steps as on a command line: "12", "12.0", "12_3.batch". Pure functions; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace ares::cli {

struct StepId {
  JobKey job;
  std::int64_t step = 0;  // kBatchStep and kOtherSteps of model/job/step_record.h, too
  friend bool operator==(const StepId&, const StepId&) = default;
};

struct JobOrStepIds {
  std::vector<JobKey> whole;  // without a step
  std::vector<StepId> steps;

  // All jobs that are named, each once, ascending.
  std::vector<JobKey> jobs() const;
};

// Parses a comma-separated list. invalid_argument for other text.
Result<JobOrStepIds> parse_step_ids(std::string_view text);

// "batch", "0", "others".
std::string format_step(std::int64_t step);

}  // namespace ares::cli
