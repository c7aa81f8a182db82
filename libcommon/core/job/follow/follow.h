// follow(): the consequences of an event. Pure; engine thread.
#pragma once

#include <vector>

#include "base/time.h"
#include "core/job/follow/dependency_notifications.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// What follows from an event just applied: Started when all nodes are ready, the end when all have
// released, the end of an array, notifications. Judged by `state`, which may hold later events.
struct Consequences {
  std::vector<EventBody> events;                      // few; applied at once
  std::vector<DependencyNotification> notifications;  // in parts: any number of jobs may wait
};
Consequences follow(const ClusterState& state, const Policy& policy, const EventBody& event,
                    Time now);

}  // namespace ares::core
