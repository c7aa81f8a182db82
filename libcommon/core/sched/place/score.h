// score(): how well a node suits a demand under the partition's placement strategy. Each strategy
// is one row of a table; fit() takes the nodes with the lowest scores. Pure; called for every
// suitable node, so it allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "core/sched/index/cluster_index.h"
#include "model/cluster/node.h"

namespace ares::core::sched {

class WorkloadHistogram;
struct Demand;

// Capacity of one candidate node. `free` and `total` are Amounts of the same stride.
struct NodeOffer {
  NodeIndex node = 0;
  std::span<const std::int64_t> free;
  std::span<const std::int64_t> total;
  bool required = false;  // must be part of the placement
  // Sum of the plugins' scores; higher is better.
  std::int64_t plugin_score = 0;
  // For a demand of a part of a GPU that starts now: free thousandths of the shared device that it
  // would join, by column; 0: `free` includes no shared device of that type. Empty: there are no
  // such devices.
  std::span<const std::int64_t> left{};
  // Current shared devices, for strategies that use them.
  std::span<const SharedGpu> shared{};
};

// A node that can take part of the demand.
struct Suitable {
  const NodeOffer* offer = nullptr;
  std::int64_t tasks = 0;  // it could hold
  // Free GPUs of the node that the job would leave unused.
  std::int64_t spare_gpus = 0;
  // Amounts that the job would take; read only by strategies for which looks_at_take() is true.
  std::span<const std::int64_t> take;
  // For a demand of a part of a GPU: column of the device.
  std::size_t part_column = 0;
};

// Lower is better. Fields in order: whether the job prefers other nodes, the plugins' score, the
// strategy's parts, the node's number.
using Score = std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         NodeIndex>;

// The rest of the device that a part of a GPU leaves counts before the GPUs that are left idle.
// binpack              fewest GPUs left idle, then fewest tasks and CPUs that still fit
// spread               the reverse; jobs without GPUs avoid nodes with GPUs if they can
// least_fragmentation  smallest growth of GPUs that are useless for the workload
// (score_fragmentation.h); ties as binpack
Score score(const Demand& demand, const Suitable& node);

// Whether score() reads Suitable::take.
inline bool looks_at_take(PlacementStrategy strategy) {
  return strategy == PlacementStrategy::least_fragmentation;
}

}  // namespace ares::core::sched
