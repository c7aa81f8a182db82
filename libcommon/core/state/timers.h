// Times at which time alone may change something about a job: timers, deadlines, the end of its time limit. Functions of its record.
// Pure; any thread.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares {

std::optional<Timer> timer_of(const Job& job);
// For how long its attempt stood still until `now`, or its end; zero without one.
Duration suspended_for(const Job& job, Time now);
// When its time limit is used up if nothing happens; none: it has none, has not started, or stands still.
std::optional<Time> limit_end(const Job& job);
// What is left of its limit to a job that stands still. None: it has none.
std::optional<Duration> limit_left(const Job& job);
// Until the deadline, in whole seconds rounded up; none without one.
std::optional<Seconds> time_left(const Job& job, Time now);
// Whether a pending job cannot be over by its deadline any more.
bool deadline_is_lost(const Job& job, Time now);
// The deadline itself; of a pending job, the last moment at which it could start and still be over by then.
std::optional<Timer> deadline_timer_of(const Job& job);
// When the next share of its time limit is used that its owner wants to be told of.
std::optional<Timer> notice_timer_of(const Job& job);
// When its gang's time to start is over, as far as this member can tell: by when it could have started itself.
std::optional<Timer> gang_timer_of(const Job& job);
// Whether mail goes out about this record by itself, not about its array as a whole.
bool has_own_notices(const Job& job);

}  // namespace ares
