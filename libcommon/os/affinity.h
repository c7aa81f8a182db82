// The CPUs that this thread may run on, and the NUMA nodes of the memory that it allocates. What it starts inherits both. Stateless; any
// thread, for itself.
#pragma once

#include "base/interval_set.h"

namespace ares::os {

// Without effect if the set is empty, or if the machine has none of these CPUs.
void run_on(const IntervalSet& cpus);

// `only`: never from other NUMA nodes; else from others where these are full. 0 or an error number. Without effect if the set is empty.
int take_memory_from(const IntervalSet& nodes, bool only);

}  // namespace ares::os
