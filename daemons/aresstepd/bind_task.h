// Binds the calling process to the CPUs and NUMA nodes of its attempt; what it starts inherits it.
// For the first process of an attempt, after it has entered its control groups, which reset the
// affinity; before it becomes the user.
#pragma once

#include <string>

#include "node/step_spec.h"

namespace ares::stepd {

// Best effort: a node may be configured with CPUs that it does not have, and a kernel may know no
// NUMA nodes. Returns lines for the user about what was asked for and is not done, or, if the user
// wants to know, about what is done.
std::string bind_task(const node::StepSpec& spec);

}  // namespace ares::stepd
