// Searches of a set of nodes for room: on empty nodes, or on what is free at this moment. What stays free later is time/backfill.h.
// Pure; works on one pass's index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/fit.h"

namespace ares::core::sched {

// What a pass may still spend. One unit is one node looked at for one job.
class SearchBudget {
 public:
  explicit SearchBudget(std::uint64_t units) : left_(units) {}
  static SearchBudget unbounded() { return SearchBudget(~std::uint64_t{0}); }
  bool exhausted() const { return left_ == 0; }
  void spend(std::uint64_t units) { left_ = units > left_ ? 0 : left_ - units; }

 private:
  std::uint64_t left_;
};

// Nodes that a demand may use, both ascending; every required one is among the nodes.
struct NodeSet {
  std::span<const NodeIndex> nodes;
  std::span<const NodeIndex> required{};
  const Bitset* bits =
      nullptr;  // the nodes once more; null: only searches of what is free now would gain by it
};

enum class CapacityBasis : std::uint8_t { totals, free_now };

// On empty nodes, or on what is free at this moment, promises ignored. Parts of GPUs are then of the fullest shared device of the node that
// has room.
std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                CapacityBasis basis, SearchBudget& work);

// Whether it fits on empty nodes for certain; if not, only fit_on() knows. Looks at no more nodes than are needed to tell.
bool fits_empty(const Demand& demand, NodeSet set, const ClusterIndex& index);

// Whether it matters to the demand when reservations begin and end.
bool affected_by_reservations(const Demand& demand, NodeSet set, const ClusterIndex& index);
bool affected_by_reservations(const Demand& demand, const Placement& placement,
                              const ClusterIndex& index);

// What searches of this moment and of later ones share.
bool is_required(NodeSet set, NodeIndex node);
bool has_required(std::span<const NodeOffer> offers, NodeSet set);
// Of the set, those that may have room now; kept in `list`.
NodeSet with_capacity_now(const Demand& demand, NodeSet set, const ClusterIndex& index,
                          std::vector<NodeIndex>& list);
// Of the set, those that plugins do not refuse; kept in `list`.
NodeSet without_refused(const Demand& demand, NodeSet set, GpusOf state, const ClusterIndex& index,
                        std::vector<NodeIndex>& list);
std::int64_t plugin_score_of(const Demand& demand, NodeIndex node, GpusOf state);

}  // namespace ares::core::sched
