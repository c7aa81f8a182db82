// follow(): what an event brings about by itself. Pure; engine thread.
#pragma once

#include <vector>

#include "base/time.h"
#include "core/job/follow/dependency_notifications.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// What follows from an event that was just applied, without anybody asking: Started when all nodes are ready, the end when all have
// let go, the end of an array, and who is to be told of it. `state` may already hold later events; what follows is judged by it.
struct Consequences {
  std::vector<EventBody> events;                      // at once: a few
  std::vector<DependencyNotification> notifications;  // a part at a time: any number may wait
};
Consequences follow(const ClusterState& state, const Policy& policy, const EventBody& event,
                    Time now);

}  // namespace ares::core
