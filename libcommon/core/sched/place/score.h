// score(): how well a node suits a demand, by the partition's placement strategy. One row a strategy; fit() takes the nodes of
// the lowest scores. Pure; called for every node that would do, so it allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"

namespace ares::core::sched {

class WorkloadHistogram;
struct Demand;

// What one candidate node can give. `free` and `total` are Amounts of the same stride.
struct NodeOffer {
  NodeIndex node = 0;
  std::span<const std::int64_t> free;
  std::span<const std::int64_t> total;
  bool required = false;          // must be part of the placement
  std::int64_t plugin_score = 0;  // what the site's plugins score it; higher is better
  // For a demand of a part of a GPU that starts now: what is left of the shared device that it would join, by column; 0 = `free` counts
  // none. Empty: none at all.
  std::span<const std::int64_t> left{};
  std::span<const SharedGpu> shared{};  // as of now, for strategies that look at what is taken
};

// A node that would do.
struct Suitable {
  const NodeOffer* offer = nullptr;
  std::int64_t tasks = 0;       // it could hold
  std::int64_t spare_gpus = 0;  // free there, that the job would leave unused
  std::span<const std::int64_t>
      take;                     // what the job would take; looked at by strategies that ask for it
  std::size_t part_column = 0;  // of a demand of a part of a GPU: the device's
};

// Lower is better. First whether it is one that the job does not prefer, then what plugins say, last its number.
using Score = std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         NodeIndex>;

// What of the device would be left beside a part of it is looked at before the GPUs that are left idle.
// binpack              fewest GPUs left idle, then fewest tasks and CPUs that still fit
// spread               most of these; jobs without GPUs keep off nodes with GPUs as long as they can
// least_fragmentation  by how much the GPUs useless to the mix of jobs grow (score_fragmentation.h); ties as binpack
Score score(const Demand& demand, const Suitable& node);

// Whether score() looks at what is taken.
inline bool looks_at_take(PlacementStrategy strategy) {
  return strategy == PlacementStrategy::least_fragmentation;
}

}  // namespace ares::core::sched
