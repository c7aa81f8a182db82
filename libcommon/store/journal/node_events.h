// The history of nodes: which events of a batch are in it, in words. Pure; any thread.
#pragma once

#include <memory>
#include <vector>

#include "model/engine/event.h"
#include "model/engine/state.h"
#include "store/journal/journal.h"

namespace ares::store {

// `after`: the state after the events, with the names of the nodes.
std::vector<NodeEvent> node_events_of(const std::vector<std::shared_ptr<const Event>>& events,
                                      const ClusterState& after);

}  // namespace ares::store
