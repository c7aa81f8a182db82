#include "core/job/task_rank.h"

#include <algorithm>

namespace ares::core {

std::uint32_t task_rank(const Job& array, TaskIndex task) {
  std::uint32_t rank = 0;
  for (const IntervalSet::Interval& run : array.spec->array->intervals()) {
    if (task.value <= run.last) return rank + (task.value - run.first);
    rank += run.last - run.first + 1;
  }
  return rank;
}

}  // namespace ares::core
