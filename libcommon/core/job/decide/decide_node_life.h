// Which nodes may join that no configuration names. Internal to core/job; pure, engine thread.
#pragma once

#include <string>

#include "base/result.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {

// By the rules of `dynamic_nodes`. `known`: its record, if it has left but is not gone yet. Errors:
// not_found: no rule has that name. resource_exhausted: as many nodes as may have joined by the rule.
Result<NodeJoined> may_join(const DecisionContext& q, const std::string& name,
                            const Inventory& inventory, const Node* known);

}  // namespace ares::core
