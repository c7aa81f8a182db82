#include "step_client/wait_limit.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>

#include "os/clock.h"

namespace ares::step_client {

WaitLimit WaitLimit::of(Duration duration, int interrupt) {
  return {os::boot_now() + duration, interrupt};
}

Waited WaitLimit::wait(int fd, short events) const {
  constexpr std::int64_t kLongest = 3'600'000;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - os::boot_now()).count();
    pollfd ready[] = {{fd, events, 0}, {interrupt, POLLIN, 0}};
    const int count = ::poll(ready, std::size(ready),
                             static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongest)));
    if (count < 0 && errno == EINTR) continue;
    if (ready[1].revents != 0) return Waited::interrupted;
    if (ready[0].revents != 0) return Waited::ready;
    if (left <= 0) return Waited::too_long;
  }
}

}  // namespace ares::step_client
