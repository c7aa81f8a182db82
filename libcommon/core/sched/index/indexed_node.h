// IndexedNode: what the index keeps of one node: its totals, what is free, and which devices are used.
// A row of ClusterIndex, which owns it; not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bitset.h"
#include "core/sched/index/amounts.h"
#include "core/sched/index/node_tenants.h"
#include "core/topology/machine.h"
#include "model/cluster/node.h"

namespace ares::core::sched {

// A device of which jobs have parts.
struct SharedGpu {
  GpuIndex gpu;
  std::size_t column = 0;  // its type's, of Amounts
  std::uint32_t used = 0;  // thousandths; above 0
  friend bool operator==(const SharedGpu&, const SharedGpu&) = default;
};

struct IndexedNode {
  const Node* node = nullptr;
  bool usable = false;  // up, registered: may be given to a job now
  Amounts total;
  Amounts
      free;  // total less every charge, never below zero; of GPUs those of which nobody has any part
  Bitset cpus_used;                 // as far as the charges name them
  std::vector<GpuIndex> gpus_used;  // ascending; wholly or in part
  std::vector<SharedGpu> shared;    // of these; ascending
  NodeTenants tenants;
  const topology::MachineTopology* machine = nullptr;  // null: nothing is known of its GPUs' links
  std::uint32_t stamp =
      0;  // another one whenever what is free may have changed; never 0 in an index
};

// One more has a part of the device; whether nobody had any before.
bool share_gpu(IndexedNode& node, GpuIndex gpu, std::size_t column, std::uint32_t part);
// One less; whether nobody has any now.
bool unshare_gpu(IndexedNode& node, GpuIndex gpu, std::uint32_t part);

// The fullest shared device of that type that has room for so much; of equals the one of the lowest number. Null: none has.
const SharedGpu* fullest_that_fits(const IndexedNode& node, std::size_t column, std::uint32_t part);

}  // namespace ares::core::sched
