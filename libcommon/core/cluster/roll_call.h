// RollCall: the nodes that a controller hears before it acknowledges anything. A controller whose
// own record of the last position is missing learns only from them that its database is an older
// copy, and one that accepted a rollback, which jobs run that its database has as pending. Owned by the engine's driver (controller or simulator), used by its thread only.
#pragma once

#include <set>

#include "model/engine/state.h"

namespace ares::core {

// Live nodes connect again within a few seconds; for those that are off the controller does not
// wait longer than this.
inline constexpr Duration kRollCallPatience = std::chrono::seconds(30);

class RollCall {
 public:
  RollCall() = default;  // over

  // Awaits every node that was ever registered, until `until`.
  RollCall(const ClusterState& recovered, Time until);

  // Its position was compared, and it has ended what the state does not know: see
  // answers_roll_call().
  void heard(NodeId node) { awaited_.erase(node); }

  bool over(Time now) const { return awaited_.empty() || now >= until_; }

  const std::set<NodeId>& awaited() const { return awaited_; }

 private:
  std::set<NodeId> awaited_;
  Time until_{};
};

}  // namespace ares::core
