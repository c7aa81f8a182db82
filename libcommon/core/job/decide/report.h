// What a node's report about an attempt means.
// Internal to core/job; pure, engine thread.
#pragma once

#include "core/job/decide/decision_context.h"

namespace ares::core {

// The node's share, if attempt and fence are the current ones and it is not fenced; else null.
const NodeShare* current_share(const Job& job, const AttemptKey& attempt, Fence fence, NodeId node);

// Whether nothing of the attempt is left on the node.
constexpr bool is_over(AttemptPhase p) {
  return p >= AttemptPhase::done;
}

// Appends the events that follow from the report.
void decide_report(const DecisionContext& q, const Node& node, const AttemptReport& report,
                   Decision& d);

// The attempt is gone from the node without a result: its machine rebooted.
void decide_gone(const DecisionContext& q, const Node& node, const Charge& charge, Decision& d);

// The ending that an exit status means for the job.
Ending ending_of(const Job& job, const ExitStatus& exit);

}  // namespace ares::core
