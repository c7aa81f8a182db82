// Calendar calculations in this machine's time zone, which the engine does not know: the next
// occurrence of a recurring reservation, and the start of a usage period.
// Pure except for the time zone; any thread.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/accounts/fairness.h"
#include "model/cluster/reservation.h"

namespace ares::aresctld {

// The first occurrence that has not ended at `now`. It starts and ends at the same times of day as
// the previous one, also across a change of daylight saving time. Precondition: the reservation
// recurs.
// None if the clocks skip that time of day: the caller then adds the period once and requests the
// occurrence after that.
std::optional<Window> next_occurrence(const Reservation& reservation, Time now);

// Start of the period that contains `now`; none if there are no periods.
std::optional<Time> period_start(UsageReset period, Time now);

}  // namespace ares::aresctld
