// The GPUs that one job requests for each task, on each node and in total: the lists must agree, and
// then one of them decides. The rules are those of Slurm's gres_job_state_validate().
// Pure functions; any thread.
#pragma once

#include "base/result.h"
#include "model/job/job.h"

namespace ares::core {

// Completes a request in which 0 means "not specified":
//  * A list without a type gets the type of the others.
//  * GPUs for each task, with GPUs on each node or in total, say how many tasks there are.
//  * GPUs on each node, with GPUs in total, say how many nodes there are.
void fill_in_from_gpu_lists(JobSpec& spec);

// Keeps one list of those that agree in a completed request: per task before per node before in
// total. Lists that do not agree are left as they are; check_gpu_lists() says why.
void keep_deciding_gpu_list(JobSpec& spec);

// invalid_argument: two of the lists do not agree with each other, or with the tasks or nodes.
Status check_gpu_lists(const JobSpec& spec);

}  // namespace ares::core
