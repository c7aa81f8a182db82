#include "store/pg/pg_task.h"

namespace ares::store {

std::int64_t task_column(TaskIndex task) {
  return task.is_none() ? -1 : std::int64_t{task.value};
}

TaskIndex task_from_column(std::int64_t task) {
  return task < 0 ? TaskIndex{} : TaskIndex{static_cast<std::uint32_t>(task)};
}

}  // namespace ares::store
