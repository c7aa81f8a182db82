// What a node's report about one attempt means.
// Internal to core/job; pure, engine thread.
#pragma once

#include "core/job/decide/decision_context.h"

namespace ares::core {

// The current attempt's share of this node if the report is about it (same attempt, same fence, not fenced), else null.
const NodeShare* current_share(const Job& job, const AttemptKey& attempt, Fence fence, NodeId node);

// Nothing of the attempt is left on the node.
constexpr bool is_over(AttemptPhase p) {
  return p >= AttemptPhase::done;
}

// Appends what the report changes.
void decide_report(const DecisionContext& q, const Node& node, const AttemptReport& report,
                   Decision& d);

// The attempt is certainly gone from the node without a result: its machine rebooted.
void decide_gone(const DecisionContext& q, const Node& node, const Charge& charge, Decision& d);

// The terminal state an exit status means for that job.
Ending ending_of(const Job& job, const ExitStatus& exit);

}  // namespace ares::core
