// Catalogue: names for the numbers in accounting rows: nodes, their GPU types, TRES.
// Owned by a PgJournal; journal thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/cluster/node.h"
#include "model/cluster/resources.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::store {

class Catalogue {
 public:
  void remember(const ClusterState& state);
  void remember(const Node& node);
  void remember(const Tres& tres) { tres_[tres.name] = tres.id; }

  // A node that was removed from the configuration long ago is "node#7".
  std::string node_name(NodeId id) const;

  // "n[1-3]", in rank order.
  std::string node_list(const Allocation& allocation) const;

  // Resources of the attempt, ascending name; memory in MiB, GPUs in thousandths.
  using Amounts = std::map<std::string, std::int64_t>;
  Amounts allocated(const Allocation& allocation) const;
  static Amounts requested(const JobSpec& spec);

  // Capacity of a node: as registered, or as configured if it has not registered.
  static Amounts capacity(const Node& node);

  // Only amounts of TRES with a number. A GPU type gets its number when an event first contains it.
  TresCounts interned(const Amounts& amounts) const;

  // "billing=2,cpu=2,gres/gpu=1,mem=500M,node=1"; shared GPUs as "gres/gpu=0.5"
  static std::string text(const Amounts& amounts);

 private:
  struct KnownNode {
    std::string name;
    std::map<GpuIndex, std::string> gpu_types;
  };
  std::unordered_map<NodeId, KnownNode> nodes_;
  std::map<std::string, TresId> tres_;
};

}  // namespace ares::store
