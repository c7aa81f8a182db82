// fit(): whether and how a demand can be placed on nodes with given free amounts. All of it is
// placed or nothing. The order of the result is rank order. Pure; called many times in a pass.
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

// Takes the fewest nodes that hold the tasks, and of those the ones with the best score; ties are
// broken by node order. Several nodes are taken close together in the demand's network and within
// its limits. Tasks are spread evenly. With limits each node must be able to take an even share.
std::optional<Placement> fit(const Demand& demand, std::span<const NodeOffer> offers);

// Makes the same choice for a demand of one node whose GPUs are not shared, which most jobs are.
// GPUs without a type get the type that the best node offers. Reads each offer once and allocates
// nothing.
class SingleNodeFit {
 public:
  static bool suits(const Demand& demand);
  SingleNodeFit(const Demand& demand, std::size_t stride);
  bool fits(const NodeOffer& offer) const;
  // Offers come in ascending order of nodes.
  void add(const NodeOffer& offer);
  // Whether a node with these free amounts is surely not better than those before, so that it need
  // not be added.
  bool is_no_better(std::span<const std::int64_t> free) const;
  std::optional<Placement> placement() const;

 private:
  const Demand& demand_;
  std::vector<TypedDemand> types_;  // GPU types that the demand may get
  Amounts take_;                    // scratch row
  // Whether a score is the GPUs left idle, then the tasks, then the CPUs, and the tasks depend on
  // nothing but free amounts.
  bool by_free_amounts_ = false;
  std::int64_t asked_gpus_ = 0;
  // CPUs and memory with which a node takes so many tasks.
  struct Needs {
    std::int64_t cpus = 0, memory = 0;
    bool met_by(std::span<const std::int64_t> free) const {
      return free[kCpus] >= cpus && free[kMemory] >= memory;
    }
  };
  Needs needs_of(std::int64_t tasks) const;

  std::optional<NodeOffer> best_;
  std::int64_t best_spare_ = 0;  // GPUs that it leaves idle
  Needs as_many_, more_;         // tasks than it takes
  std::size_t best_type_ = 0;
  std::int64_t best_tasks_ = 0;
  Score score_;
};

}  // namespace ares::core::sched
