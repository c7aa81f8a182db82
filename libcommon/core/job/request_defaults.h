// What a submission means where it says nothing: numbers of tasks, CPUs and nodes.
// Pure function; any thread.
#pragma once

#include "model/job/job.h"

namespace ares::core {

// In a request 0 means "not specified". Defaults: one task, one CPU; as few nodes as the tasks and
// GPUs need, at most one per task. max_nodes stays 0 if the nodes named or the GPUs of the cluster's
// nodes decide it, which the engine does at submission.
void fill_in_defaults(JobSpec& spec);

}  // namespace ares::core
