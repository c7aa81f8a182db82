// Messages owed to nodes, computed from one event or from the state alone. Both give the same, so a
// restart regenerates everything lost with the process. Pure; called by the engine and by tests.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/engine/effect.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// Messages owed because of `event`; `after` is the state right after it.
Effects effects(const Policy& policy, const Event& event, const ClusterState& after);

// Everything owed for the attempts charged to `node`, given the attempts that it reported, if any.
// Includes Kill or Forget for reported attempts that the state does not know or has fenced. A
// Signal is not state and is not repeated; a changed time limit is. A missing attempt is not
// assumed gone, as the report may be old: the message that it should have received is sent again.
Effects reconcile(const Policy& policy, const ClusterState& state, NodeId node,
                  const std::vector<AttemptReport>& reported);

// Whether the message ends the wait for its node in a roll call: it registered, or tried to, and no
// attempt lives there that reconcile() ends because the state does not know it. Such a one may be a job
// that an older copy of the database has as pending.
bool answers_roll_call(const ClusterState& state, const FromNode& message);

// The time between SIGTERM and SIGKILL that the ending sets; none = the usual time.
inline std::optional<Seconds> grace_of(const Job& job) {
  if (!job.ending || !job.ending->preempted) return std::nullopt;
  return job.ending->preempted->grace;
}

// Ends what the controller does not wait for: an attempt that it has fenced, or does not know.
inline Kill kill_given_up(const AttemptKey& attempt, Fence fence) {
  return {.attempt = attempt, .fence = fence, .immediately = true, .given_up = true};
}

// The common part of the launch messages of an allocation.
std::shared_ptr<const NodeLayout> layout_of(const ClusterState& state, const Job& job);

// The launch message for one share. Blobs are named in the specification, not included.
Prepare make_prepare(const Policy& policy, const ClusterState& state, const Job& job,
                     std::size_t rank, std::shared_ptr<const NodeLayout> layout);

}  // namespace ares::core
