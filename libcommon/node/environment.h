// The environment of a job: the submitted variables and those that Ares sets.
// Pure functions; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "node/step_spec.h"

namespace ares::node {

// One variable set by Ares. The environment and the manual page are both made from its row.
struct Variable {
  std::string_view name;
  std::string_view meaning;
  std::string_view when;  // empty = always
};
std::span<const Variable> job_variables();

// The name by which Slurm knows the variable: "SLURM_JOB_ID" for "ARES_JOB_ID", "SLURMD_NODENAME" for
// "ARESD_NODENAME". None: Slurm has none like it.
std::optional<std::string> slurm_name(std::string_view name);

// Returns "NAME=value" strings for execve in ascending order. `submitted` is NUL-separated; the last duplicate wins; Ares
// overrides. `directory` is the attempt's (it marks the job's processes); `started_at` is when user code was started.
// `restore` is the directory of the checkpoint that the job is to begin from; empty: it has none.
std::vector<std::string> job_environment(const StepSpec& spec, std::string_view submitted,
                                         std::string_view directory, Time started_at,
                                         std::string_view restore = {});

// The variables that say which GPUs a program may use, for some of the job's GPUs on the node, by position
// among those of its share. None: the variable is not set.
std::vector<std::pair<std::string, std::optional<std::string>>> gpu_variables(
    const StepSpec& spec, std::span<const std::uint32_t> positions);

// The address by which other nodes reach this one of the job, without a port; its name if none is known.
std::string address_of(const LaunchSpec& launch, std::size_t node);

// "2(x3),1" for 2 2 2 1.
std::string fold_counts(std::span<const std::uint32_t> counts);

}  // namespace ares::node
