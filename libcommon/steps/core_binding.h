// Which CPUs each task of a step has on a node where --ntasks-per-core or --ntasks-per-socket limits how many tasks share a
// core or a socket. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "model/cluster/cpu_layout.h"

namespace ares::steps {

struct SharedCores {
  std::uint32_t tasks = 0;             // on this node
  std::uint32_t cpus_per_task = 1;     // all of one socket
  std::uint32_t tasks_per_core = 0;    // at most; 0: no limit
  std::uint32_t tasks_per_socket = 0;  // at most; 0: no limit
};

// The CPUs of each task, from `cpus`, those of the step; the first tasks are on the first socket. failed_precondition: they
// do not suffice for that, or where they are is not known.
Result<std::vector<IntervalSet>> cpus_of_tasks(const SharedCores& wanted, const CpuLayout& layout,
                                               const std::vector<std::uint32_t>& cpus);

}  // namespace ares::steps
