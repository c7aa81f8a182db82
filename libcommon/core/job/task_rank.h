// Tasks of an array by their position. Pure; any thread.
#pragma once

#include <cstdint>

#include "model/job/job.h"

namespace ares::core {

// Position of a task among its array's tasks. Precondition: the array has it.
std::uint32_t task_rank(const Job& array, TaskIndex task);

}  // namespace ares::core
