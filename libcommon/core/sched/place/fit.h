// fit(): whether and how a demand can be placed on nodes with given room. Gang: all of it or
// nothing. Pure; called many times a pass. Order of the result is rank order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/placement.h"
#include "core/sched/place/score.h"
#include "core/sched/place/typed_demand.h"

namespace ares::core::sched {

// Fewest nodes that hold the tasks, and of those the ones of the best score; ties by node order. Several nodes are taken close
// together in the demand's network and within its limits. Tasks are spread evenly. With limits each node must be able to
// take an even share.
std::optional<Placement> fit(const Demand& demand, std::span<const NodeOffer> offers);

// The same choice for a demand of one node whose GPUs are a node's own: the bulk of all jobs. GPUs of no type are of the type that
// the best node gives. Looks at each room once and allocates nothing.
class SingleNodeFit {
 public:
  static bool suits(const Demand& demand);
  SingleNodeFit(const Demand& demand, std::size_t stride);
  void add(const NodeOffer& offer);
  std::optional<Placement> placement() const;

 private:
  const Demand& demand_;
  std::vector<TypedDemand> types_;  // that it may get
  Amounts take_;                    // room to reckon in
  std::optional<NodeOffer> best_;
  std::size_t best_type_ = 0;
  std::int64_t best_tasks_ = 0;
  Score score_;
};

}  // namespace ares::core::sched
