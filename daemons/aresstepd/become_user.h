// What a process of an attempt does to become the job's user. Called in the child that runs the user's
// code, before it does; single-threaded.
#pragma once

#include <vector>

#include "base/result.h"
#include "node/step_spec.h"

namespace ares::stepd {

// The limits of the submitter's shell, capped at the hard limits of the node as in a login shell.
void set_limits(const std::vector<ResourceLimit>& limits);

// Takes the user's groups, group and number, for good, and dies with its parent from then on. An error if
// aresd runs as another user who is not root.
Status become_user(const node::StepSpec& spec);

}  // namespace ares::stepd
