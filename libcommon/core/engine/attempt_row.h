// The accounting rows that are made from a job's record.
// Pure; engine thread.
#pragma once

#include <optional>

#include "core/job/transitions.h"
#include "model/engine/event.h"
#include "model/job/job.h"

namespace ares::core {

// Row of the current or last attempt; attempt 0 for a job that ended without ever being allocated.
// None for a pending job and for an array's own record.
std::optional<Attempt> attempt_row(const Job& job);

// The row whose data the event removes from the record `before`: of the attempt that a requeue
// ends, or of the waiting tasks of an array that is cancelled. `at`: the event's time.
std::optional<Attempt> superseded_row(const Job& before, const EventBody& event, Time at);

// Whether the event changes the job's row. Events of single nodes do not; the end shows them.
bool changes_row(JobEvent event);

}  // namespace ares::core
