// The environment of a job: what was submitted, and what Ares tells the job about itself.
// Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "node/step_spec.h"

namespace ares::node {

// One variable set by Ares; the same row makes the value and the manual.
struct Variable {
  std::string_view name;
  std::string_view meaning;
  std::string_view when;  // empty = always
};
std::span<const Variable> job_variables();

// "NAME=value" for execve, ascending. `submitted` is NUL-separated, of a name given twice the last counts; Ares's own variables win.
// `directory` is the attempt's, it marks the job's processes. `started_at` is when user code was let go.
std::vector<std::string> job_environment(const StepSpec& spec, std::string_view submitted,
                                         std::string_view directory, Time started_at);

// "2(x3),1" for 2 2 2 1.
std::string fold_counts(std::span<const std::uint32_t> counts);

}  // namespace ares::node
