// Machines: topologies reported by nodes, each parsed once for all nodes that share it, and a cache
// of choices on them. A pass asks the same questions repeatedly: few kinds of machines with the
// same GPUs free. Owned by a ClusterIndex or by the check of a submission; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/topology/choose.h"
#include "model/cluster/resources.h"

namespace ares::core::topology {

class Machines {
 public:
  using Machine = MachineTopology;

  // The address is stable. Null for an empty topology, or one that this version cannot read: it is
  // checked when a node registers, but a newer release may have stored it.
  const Machine* of(const GpuTopology& told);

  // choose_gpus() without the reason for a refusal; cached.
  std::optional<GpuSet> choose(const Machine& machine, GpuSet free, const GpuRequest& request);

  // The largest number of GPUs of `free` that a job with that constraint can get together. For an
  // unknown machine (null) 1, because one GPU fulfils every constraint.
  unsigned most_together(const Machine* machine, GpuSet free, const GpuConstraint& constraint);

 private:
  struct ChoiceKey {
    const Machine* machine;
    std::uint64_t free;
    GpuRequest request;
    bool operator==(const ChoiceKey& other) const {
      return machine == other.machine && free == other.free &&
             request.count == other.request.count && request.constraint == other.request.constraint;
    }
  };
  struct Hash {
    std::size_t operator()(const ChoiceKey& key) const;
  };

  std::map<std::string, std::unique_ptr<const Machine>, std::less<>> machines_;  // by text
  std::unordered_map<ChoiceKey, std::optional<GpuSet>, Hash> choices_;
};

}  // namespace ares::core::topology
