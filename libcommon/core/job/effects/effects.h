// What is owed to nodes: from one change of state, and from state alone. Both give the same messages for the same debt, so a restart
// regenerates everything that was lost with the process. Pure; called by the engine and by tests.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/engine/effect.h"
#include "model/engine/event.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// Owed because of `event`; `after` is the state right after it.
Effects effects(const Policy& policy, const Event& event, const ClusterState& after);

// Everything owed for the attempts charged to `node`, given what the node says it has (nothing: a node that says nothing).
// Includes Kill or Forget for reported attempts the state does not know or has fenced. A Signal is not state and does not come
// again; a changed time limit does.
// What a node does not list is never taken for gone (its message may be old): it is asked again by the message it should have had.
Effects reconcile(const Policy& policy, const ClusterState& state, NodeId node,
                  const std::vector<AttemptReport>& reported);

// What the job's ending leaves it between SIGTERM and SIGKILL, if that is not the usual time.
inline std::optional<Seconds> grace_of(const Job& job) {
  if (!job.ending || !job.ending->preempted) return std::nullopt;
  return job.ending->preempted->grace;
}

// What the launch messages of a job's current allocation have in common.
std::shared_ptr<const NodeLayout> layout_of(const ClusterState& state,
                                            const Allocation& allocation);

// The launch message of one of its shares (blobs are named in the specification, not carried).
Prepare make_prepare(const Policy& policy, const ClusterState& state, const Job& job,
                     std::size_t rank, std::shared_ptr<const NodeLayout> layout);

}  // namespace ares::core
