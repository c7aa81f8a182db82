#include "core/engine/attempt_row.h"

namespace ares::core {

std::optional<Attempt> attempt_row(const Job& job) {
  const bool allocated = job.allocation.has_value();
  if (!allocated && !is_terminal(job.state)) return std::nullopt;
  // An array's own record stands for the tasks that never got one: there are some only if it was cancelled.
  if (job.array && job.array->completed + job.array->unsuccessful >= job.spec->array->count())
    return std::nullopt;
  Attempt row;
  // A job that ends without an allocation waited for its next attempt; the rows before it are written.
  row.key = {job.key, allocated                  ? job.attempt
                      : job.attempt.value() == 0 ? AttemptNo{0}
                                                 : job.attempt.next()};
  row.own_id = job.own_id;
  row.spec = job.spec;
  row.state = job.state;
  row.reason = job.reason;
  if (job.ending && is_terminal(job.state)) row.cancelled_by = job.ending->by;
  if (allocated) row.allocation = *job.allocation;
  row.submitted = job.submitted;
  row.eligible = job.eligible;
  row.started = job.started;
  row.ended = job.ended;
  row.restarts = job.restarts;
  row.exit = job.exit;
  return row;
}

}  // namespace ares::core
