// Adds lines to the standard error of the batch script. Called as the job's user, whose permissions count, by the step host.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "node/step_spec.h"

namespace ares::stepd {

// `line` has its end. It begins a line of its own also where the script has written a part of one. failed_precondition: the script has no
// regular file for its standard error, or that is gone.
Status add_to_errors(const node::StepSpec& spec, std::string_view line);

}  // namespace ares::stepd
