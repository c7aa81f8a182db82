// Machines: the topologies that nodes tell of, each read once however many nodes have the same, and what was chosen on them. A pass
// asks the same things again and again: the same few kinds of machines with the same GPUs free.
// Owned by a ClusterIndex, or by whoever checks a submission; not thread-safe.
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

  // Stays where it is. Null where nothing is told, or what this version cannot read: it is checked when a node registers, but a newer
  // release may have stored it.
  const Machine* of(const GpuTopology& told);

  // choose_gpus() without its reasons.
  std::optional<GpuSet> choose(const Machine& machine, GpuSet free, const GpuRequest& request);

  // How many of `free` can be had together by a job with that constraint. Where nothing is known of the machine (null) one, which keeps
  // any constraint by itself.
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

  std::map<std::string, std::unique_ptr<const Machine>, std::less<>> machines_;  // by their text
  std::unordered_map<ChoiceKey, std::optional<GpuSet>, Hash> choices_;
};

}  // namespace ares::core::topology
