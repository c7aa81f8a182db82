// Nodes that were lost with jobs: which jobs wait for their word, and who can end that. See also
// dead_at(). Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "model/engine/state.h"

namespace ares::core {

// Lost nodes that have not said that the job's attempt has ended there, in rank order. The job ends
// only when they have, or count as dead.
std::vector<const Node*> lost_nodes_of(const ClusterState& state, const Job& job);

// Whether a job waits for the word of this lost node.
bool is_waited_for(const ClusterState& state, const Node& node);

// A node that was lost with the attempt, and has not come back since; null if there is none. Nothing
// proves that a job that has ended does not run there: the attempt has no lease there, and no operator
// has declared the node dead.
const Node* may_still_run_on(const ClusterState& state, const Job& job);

// The command by which an operator declares the nodes dead; jobs do not wait for their word then.
std::string declare_dead_command(const std::vector<const Node*>& nodes);

}  // namespace ares::core
