// Options of sbatch without which a job runs correctly as well: Ares does what they ask for anyway,
// or says in a warning what it does instead. Owned by the command's main thread.
#pragma once

#include <vector>

#include "cli/options/options.h"
#include "submission/submission.h"

namespace ares::submission {

// The rows are bound to `target`, which must outlive them.
std::vector<cli::Option> hint_options(Submission& target);

// Warns if the nodes may have fewer CPUs for the job than --mincpus asks for. Called when all options
// are applied.
void check_least_cpus(Submission& target);

// What --ntasks-per-core says together with --hint and --threads-per-core. Called when all options are
// applied.
void complete_tasks_per_core(Submission& target);

// Leaves those resource limits in `spec` that --propagate names. Called when the process's are in it.
void drop_other_limits(const Submission& target, api::JobSpec& spec);

}  // namespace ares::submission
