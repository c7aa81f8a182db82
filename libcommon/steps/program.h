// The programs of a step whose tasks run several (arun --multi-prog). Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "steps/request.h"

namespace ares::steps {

// The command line of the task: the first program whose ranks it is among, with %t replaced by the rank and
// %o by the place of the rank among those of the program, from 0. Without programs that of all tasks.
// not_found: the rank has no program.
Result<std::vector<std::string>> arguments_of(const TaskSettings& settings, std::uint32_t rank);

}  // namespace ares::steps
