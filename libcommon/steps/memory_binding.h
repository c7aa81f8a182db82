// From which NUMA nodes a task of a step takes its memory, as --mem-bind says. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/interval_set.h"
#include "model/cluster/cpu_layout.h"
#include "model/job/binding_options.h"
#include "node/binding.h"

namespace ares::steps {

struct TaskMemory {
  node::MemoryPolicy policy = node::MemoryPolicy::none;
  IntervalSet nodes{};  // of the policy
  std::string note{};   // why the option has no effect; else empty
};

// `task` counts the tasks of the node from 0, and may run on `cpus`; empty: they are not known. Nothing is set where all NUMA nodes of the
// machine are allowed.
TaskMemory memory_of_task(const MemBind& bind, const CpuLayout& layout, const IntervalSet& cpus,
                          std::uint32_t task);

// For users: "NUMA node 0 only".
std::string describe(const TaskMemory& memory);

}  // namespace ares::steps
