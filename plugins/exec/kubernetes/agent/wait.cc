#include "exec/kubernetes/agent/wait.h"

#include <poll.h>

#include <algorithm>
#include <iterator>

#include "os/clock.h"

namespace ares::kubernetes {
namespace {

Error too_late(const Wait& wait, const std::string& what) {
  std::string message =
      "no answer about " + what + " from the API server " + wait.client.access().server;
  for (const ObjectWatch* watch : wait.watches)
    if (!watch->problem().empty())
      return {ErrorCode::unavailable, message + ": " + watch->problem()};
  return {ErrorCode::unavailable, message};
}

BootTime next_deadline(const Wait& wait, BootTime end) {
  BootTime next = std::min(end, wait.client.next_deadline().value_or(end));
  if (wait.lease) next = std::min(next, wait.lease->next_deadline().value_or(end));
  for (const ObjectWatch* watch : wait.watches)
    next = std::min(next, watch->next_deadline().value_or(end));
  return next;
}

}  // namespace

Status run_until(const Wait& wait, const std::function<bool()>& is_done, const std::string& what) {
  const BootTime end = wait.most ? os::boot_now() + *wait.most : BootTime::max();
  while (!is_done()) {
    const BootTime now = os::boot_now();
    if (now >= end) return fail(too_late(wait, what));
    // An hour: poll() takes milliseconds as an int.
    const Duration left = std::clamp<Duration>(next_deadline(wait, end) - now, Duration::zero(),
                                               std::chrono::hours(1));
    pollfd waited[] = {{wait.client.event_fd(), POLLIN, 0}, {wait.stop_fd, POLLIN, 0}};
    (void)::poll(waited, std::size(waited),
                 static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    if (waited[1].revents != 0)
      return fail(ErrorCode::failed_precondition, "the start was broken off by a signal");
    wait.client.dispatch();
    if (wait.lease) {
      wait.lease->dispatch();
      if (!wait.lease->failure().empty())
        return fail(ErrorCode::failed_precondition, wait.lease->failure());
    }
    for (ObjectWatch* watch : wait.watches)
      if (watch->next_deadline().value_or(BootTime::max()) <= os::boot_now()) watch->dispatch();
  }
  return {};
}

}  // namespace ares::kubernetes
