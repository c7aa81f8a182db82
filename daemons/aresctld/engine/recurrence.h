// What the clock on the wall says, in this machine's time zone, which the engine does not know: when a reservation that recurs comes
// next, and when a period of usage began.
// Pure but for the time zone; any thread.
#pragma once

#include <optional>

#include "base/time.h"
#include "model/accounts/fairness.h"
#include "model/cluster/reservation.h"

namespace ares::aresctld {

// The first occurrence that is not over at that time. At the same time of day as the one before it, also where the clocks have
// changed between them; it lasts until the same time of day as that one. Precondition: the reservation recurs.
// None where the clocks skip that time of day: then it is reckoned with its period once, and the one after that is asked for.
std::optional<Window> next_occurrence(const Reservation& reservation, Time now);

// When the period that is on at that time began; none where there are no periods.
std::optional<Time> period_start(UsageReset period, Time now);

}  // namespace ares::aresctld
