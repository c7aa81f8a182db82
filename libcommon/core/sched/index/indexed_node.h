// IndexedNode: the index's entry for one node: totals, free amounts and used devices.
// Part of ClusterIndex, which owns it; not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bitset.h"
#include "core/sched/index/amounts.h"
#include "core/sched/index/node_tenants.h"
#include "core/topology/machine.h"
#include "core/topology/restricted_cpus.h"
#include "model/cluster/cpu_layout.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::sched {

// A GPU that jobs share.
struct SharedGpu {
  GpuIndex gpu;
  // Column of the GPU's type in Amounts.
  std::size_t column = 0;
  std::uint32_t used = 0;  // thousandths; above 0
  friend bool operator==(const SharedGpu&, const SharedGpu&) = default;
};

struct IndexedNode {
  const Node* node = nullptr;
  // Up, registered and not kept for one job: jobs may start on it.
  bool usable = false;
  // The only job that may start on it, because it returns first. None if it is not up.
  std::optional<JobKey> kept_for;
  Amounts total;
  // Total less every charge, never below zero. A GPU counts as free only if no job has a part of
  // it.
  Amounts free;
  // CPUs that charges name. Charges without CPU ids are not included.
  Bitset cpus_used;
  // Ascending; used wholly or in part.
  std::vector<GpuIndex> gpus_used;
  // The shared ones of gpus_used; ascending.
  std::vector<SharedGpu> shared;
  NodeTenants tenants;
  // Null: the links between its GPUs are not known.
  const topology::MachineTopology* machine = nullptr;
  // Null: which of its CPUs are threads of one core is not known.
  const CpuLayout* layout = nullptr;
  // Numbers of the CPUs that jobs can get. Null: 0 and so on, as many as it has.
  const Bitset* numbers = nullptr;
  // The CPUs that it keeps for jobs with GPUs. Null: none.
  std::shared_ptr<const topology::RestrictedCpus> restricted{};
  // It counts thousandths of CPUs, which have no numbers.
  bool counts_thousandths = false;
  // Changes whenever free amounts may have changed; never 0 in an index.
  std::uint32_t stamp = 0;
};

// The example of a job class may have the key of a job that has failed since, so the key alone does
// not tell.
inline bool is_kept_for(const IndexedNode& node, const Job& job) {
  return node.kept_for && job.expedited && *node.kept_for == job.key;
}

// The CPUs of the node that a job without GPUs could get while others use the CPUs `used` and have
// `charged` CPUs in all. None if some of these have no numbers: it is then not known which are free.
// `total`: such CPUs of the empty node.
// Amounts are in the unit `cpu_unit` of the index.
std::int64_t unrestricted_free(const IndexedNode& node, std::int64_t total, const Bitset& used,
                               std::int64_t charged, std::int64_t cpu_unit);
// How many of a job's CPUs on the node, in the unit of the index, are not kept for jobs with GPUs. CPUs without numbers
// are not counted on a node that keeps some.
std::int64_t unrestricted_of(const IndexedNode& node, std::int64_t cpus,
                             std::span<const std::uint32_t> ids, std::int64_t cpu_unit);

// Adds one sharer of the device. Returns whether it is the first one.
bool share_gpu(IndexedNode& node, GpuIndex gpu, std::size_t column, std::uint32_t part);
// Removes one sharer of the device. Returns whether it was the last one.
bool unshare_gpu(IndexedNode& node, GpuIndex gpu, std::uint32_t part);

// The fullest shared device of the type that still has `part` free; of several, the one with the
// lowest number. Null: there is none.
const SharedGpu* fullest_that_fits(const IndexedNode& node, std::size_t column, std::uint32_t part);

}  // namespace ares::core::sched
