// Clock: the time as one machine sees it: a wall clock with an offset that may jump, and a boot
// clock that runs a little fast or slow. A value; one thread.
#pragma once

#include "node/moment.h"
#include "sim/timeline.h"

namespace ares::sim {

struct Clock {
  Duration wall_offset{};
  std::int64_t rate_ppm = 0;  // of the boot clock
  Instant booted{};

  Time wall(Instant now) const { return Time(Seconds(1'800'000'000)) + now + wall_offset; }
  BootTime boot(Instant now) const {
    return BootTime((now - booted) * (1'000'000 + rate_ppm) / 1'000'000);
  }
  node::Moment moment(Instant now) const { return {wall(now), boot(now)}; }
  // The first instant at which the boot clock shows `at` or later.
  Instant when(BootTime at) const {
    return booted + at.time_since_epoch() * 1'000'000 / (1'000'000 + rate_ppm) + Duration(2);
  }
};

}  // namespace ares::sim
