// WaitLimit: how long a command waits for others, and what makes it stop at once: a descriptor for signals.
// A value; one thread.
#pragma once

#include "base/time.h"

namespace ares::step_client {

enum class Waited { ready, too_long, interrupted };

struct WaitLimit {
  BootTime until{};
  int interrupt = -1;  // when it becomes readable, a wait ends; -1: nothing does that

  static WaitLimit of(Duration duration, int interrupt = -1);

  // Until `fd` has one of these poll(2) events; -1: only the time counts. Nothing is read from either.
  Waited wait(int fd, short events) const;
};

}  // namespace ares::step_client
