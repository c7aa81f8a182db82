// The accounting rows that a job's record stands for.
// Pure; engine thread.
#pragma once

#include <optional>

#include "core/job/transitions.h"
#include "model/engine/event.h"
#include "model/job/job.h"

namespace ares::core {

// Of its current or last attempt; attempt 0 for a job that ended without ever having been allocated. None for a job that waits, and
// for an array's own record.
std::optional<Attempt> attempt_row(const Job& job);

// The row that an event leaves behind because the record it is applied to says no more about it afterwards: of the attempt that a
// requeue ends, and of the tasks that wait in an array that is cancelled. `before` is that record, `at` when the event takes place.
std::optional<Attempt> superseded_row(const Job& before, const EventBody& event, Time at);

// Whether the row of a job is another one after such an event. What happens on single nodes on the way shows at the end.
bool changes_row(JobEvent event);

}  // namespace ares::core
