#include "core/cluster/roll_call.h"

namespace ares::core {

RollCall::RollCall(const ClusterState& recovered, Time until) : until_(until) {
  recovered.nodes.for_each([&](NodeId id, const Node& node) {
    if (node.contact != Contact::never) awaited_.insert(id);
  });
}

}  // namespace ares::core
