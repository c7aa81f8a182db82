// Task indexes in the format of the tables' columns. Pure; any thread.
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace ares::store {

// -1 stands for "no task" in the tables.
std::int64_t task_column(TaskIndex task);
TaskIndex task_from_column(std::int64_t task);

}  // namespace ares::store
