// Times at which a job changes through time alone: timers, deadlines, the end of its time limit.
// Functions of its record. Pure; any thread.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares {

std::optional<Timer> timer_of(const Job& job);
// How long the attempt has been suspended until `now` or its end; zero without an allocation.
Duration suspended_for(const Job& job, Time now);
// End of the time limit; none if it has no limit, has not started, or is suspended.
std::optional<Time> limit_end(const Job& job);
// The part of the limit that a suspended job has not used yet; none without a limit.
std::optional<Duration> limit_left(const Job& job);
// Time until the deadline in whole seconds, rounded up; none without a deadline.
std::optional<Seconds> time_left(const Job& job, Time now);
// Whether the deadline timer has expired: a pending job can no longer end before its deadline.
bool deadline_is_lost(const Job& job, Time now);
// The deadline; for a pending job, the latest start at which it can still end before the deadline.
std::optional<Timer> deadline_timer_of(const Job& job);
// When the next percentage of its time limit is used that its owner wants mail about.
std::optional<Timer> notice_timer_of(const Job& job);
// When the gang's timeout expires for this member: its own eligible time plus the timeout.
std::optional<Timer> gang_timer_of(const Job& job);
// Until when nodes are kept for it, if any are.
std::optional<Timer> kept_timer_of(const Job& job);
// Whether mail is sent for this record itself, not only for its array as a whole.
bool has_own_notices(const Job& job);

}  // namespace ares
