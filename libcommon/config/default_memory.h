// The memory of jobs that ask for none. Pure; any thread.
#pragma once

#include <vector>

#include "config/values.h"

namespace ares::config {

// The partitions as the controller keeps them. One without default_memory_per_cpu gets the share of a CPU in the memory of that of its nodes
// which has least for each, so that memory is counted and limited for all jobs. Nodes whose CPUs and memory are not in the file do not
// count. The configuration itself keeps what the file says: its hash is of that.
std::vector<Partition> partitions_with_memory(const Config& config);

}  // namespace ares::config
