// Moment: what both clocks of a machine said when something happened. The pure state machines are
// handed it, they never look. A value; any thread.
#pragma once

#include "base/time.h"

namespace ares::node {

struct Moment {
  Time wall{};      // for people: recorded and reported
  BootTime boot{};  // for deadlines: limits, leases, back-off
};

}  // namespace ares::node
