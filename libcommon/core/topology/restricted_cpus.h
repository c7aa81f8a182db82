// The CPUs of a node that it keeps for jobs with GPUs (Inventory::restricted_cores_per_gpu).
// Pure functions; the caches of topologies that they take belong to the caller.
#pragma once

#include <memory>
#include <vector>

#include "base/bitset.h"
#include "base/interval_set.h"
#include "core/topology/cpu_layouts.h"
#include "core/topology/machines.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::topology {

// Sets of CPU numbers, all of the same size.
struct RestrictedCpus {
  struct OfGpu {
    GpuIndex gpu;
    Bitset cpus;
  };
  std::vector<OfGpu> of_gpus;  // ascending index
  Bitset all;                  // never empty
  Bitset others;               // those that any job can get
};

// For each GPU in turn the first cores near it that are not kept for another one, as many as the
// inventory says or as there are, each with all of its hardware threads. Where no CPUs are known to be
// near the GPU, all are; where the layout of the CPUs is not known, each is a core. Null: none.
std::shared_ptr<const RestrictedCpus> restricted_cpus(const Inventory& inventory,
                                                      Machines& machines, CpuLayouts& layouts);

// Whether nodes with that inventory may have restricted CPUs. Where CPUs are counted in thousandths they have no numbers.
inline bool restricts_cpus(const Inventory& inventory) {
  return inventory.cpu_thousandths == 0 && inventory.restricted_cores_per_gpu > 0 &&
         !inventory.gpus.empty();
}

// Whether the job may have them: it requests GPUs, or it gets whole nodes and thereby their GPUs.
bool may_use_restricted_cpus(const JobSpec& spec, const Partition& partition);

IntervalSet numbers_in(const Bitset& set);

}  // namespace ares::core::topology
