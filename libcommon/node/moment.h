// Moment: the readings of both clocks of a machine at one event. The state machines without I/O
// receive it as an argument instead of reading a clock. A value; any thread.
#pragma once

#include "base/time.h"

namespace ares::node {

struct Moment {
  Time wall{};      // for records and reports
  BootTime boot{};  // for deadlines: limits, leases, back-off
};

}  // namespace ares::node
