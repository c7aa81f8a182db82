// The CPUs that this thread may run on. Stateless; any thread, for itself.
#pragma once

#include "base/interval_set.h"

namespace ares::os {

// Without effect if the set is empty, or if the machine has none of these CPUs.
void run_on(const IntervalSet& cpus);

}  // namespace ares::os
