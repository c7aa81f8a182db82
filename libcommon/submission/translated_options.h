// Options of sbatch that say in another way what other options say. Owned by the command's main thread.
#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"
#include "submission/submission.h"

namespace ares::submission {

// The rows are bound to `target`, which must outlive them.
std::vector<cli::Option> translated_options(Submission& target);

// Sets CPUs and GPUs of each task: "cpu=4,gres/gpu:a100=1". invalid_argument: the text names something else.
Status set_tres_per_task(api::JobSpec& spec, const std::string& text);

// Carries out --ntasks-per-gpu: tasks from GPUs, or GPUs from tasks. Called when all options are applied.
// Invalid_argument: there is neither, or what there is contradicts it.
Status complete_tasks_per_gpu(Submission& target);

}  // namespace ares::submission
