// The variables of a task of a step, and the names of its files. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/environment.h"
#include "node/step_spec.h"
#include "steps/request.h"

namespace ares::steps {

// Those that differ from the job's, for the manual page.
std::span<const node::Variable> task_variables();

// "NAME=value" for execve of a task. `local` counts the tasks of the node from 0. `spec` and
// `directory` are the attempt's on this node; `started_at` is when the job started. `gpus`: of the task, by position among those of the
// job; none: it uses all of them.
std::vector<std::string> task_environment(
    const NodeLaunch& launch, std::uint32_t local, const node::StepSpec& spec,
    std::string_view directory, Time started_at,
    const std::optional<std::vector<std::uint32_t>>& gpus = std::nullopt);

// The variables that describe the job to a program outside of it: without those of one node or task.
std::vector<std::string> outside_environment(const node::StepSpec& spec, std::string_view directory,
                                             Time started_at);

// %t is the rank, %s the number of the step, %J "JOB.STEP"; a number before %t or %s pads with zeros. The
// rest as for the files of a batch script.
std::string expand_task_pattern(std::string_view pattern, std::uint32_t step, std::uint32_t rank,
                                const node::StepSpec& spec);

}  // namespace ares::steps
