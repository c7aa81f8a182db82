// Waits for two sources of events or the earliest of their deadlines. Used by the thread that owns them.
#pragma once

#include <poll.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>

#include "base/time.h"
#include "os/clock.h"

namespace ares::kubernetes_scale {

inline void wait_for_events(int first, int second,
                            std::initializer_list<std::optional<BootTime>> deadlines) {
  const BootTime now = os::boot_now();
  BootTime until = now + std::chrono::seconds(1);
  for (const std::optional<BootTime>& deadline : deadlines)
    if (deadline) until = std::min(until, *deadline);
  const Duration left = std::max(Duration::zero(), Duration(until - now));
  pollfd waited[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};  // -1 is passed over
  (void)::poll(waited, std::size(waited),
               static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
}

}  // namespace ares::kubernetes_scale
