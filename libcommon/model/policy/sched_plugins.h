// Interface to the site's scheduler plugins for the stages filter, score and permit.
// The scheduler sees this interface only; plugins/sched/adapter loads plugins and implements it.
// Shared and immutable; any thread may call it: the implementation serialises the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bitset.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares {

// What a plugin reads besides the demand. Jobs equal in all of it are one class and evaluated once;
// what it does not declare is not passed to it. The numbers are those of plugin/sched_abi.h.
enum class PluginLook : std::uint32_t {
  user = 1u << 0,
  account = 1u << 1,
  qos = 1u << 2,
  name = 1u << 3,
  comment = 1u << 4,
  job_id = 1u << 5,
  time_limit = 1u << 6,
  node_free = 1u << 7,  // free resources of nodes; without it nodes are passed as if empty
};
using PluginLooks = std::uint32_t;
constexpr bool looks(PluginLooks all, PluginLook at) {
  return (all & static_cast<PluginLooks>(at)) != 0;
}

// The properties that a plugin declares when it is loaded.
struct PluginFacts {
  std::string name;
  std::vector<std::string> partitions;  // evaluates jobs of these only; empty = of all
  PluginLooks looks_at = 0;
  bool filters = false, scores = false, permits = false;
};

// One job, or a representative of a class of equal jobs. Only the key and time limit of the record
// count; for a class the key counts only if the plugin reads it (job_id).
struct PluginJob {
  const Job* job = nullptr;
  const Partition* partition = nullptr;
};

// A node at the time in question. All pointers are valid during the call only.
struct PluginNode {
  const Node* node = nullptr;
  const Inventory* inventory = nullptr;  // in force, or the configured one until the node registers
  std::int64_t free_cpus = 0;
  std::int64_t free_memory = 0;         // bytes
  std::span<const GpuIndex> gpus_used;  // ascending; the others are free
  const std::string* leaf = nullptr;    // its switch or block; null = unknown
};

// A start that is about to be proposed.
struct PluginPlacement {
  PluginJob job;                      // for an array the key names the task
  std::span<const NodeShare> shares;  // rank order; the resources it gets, device by device
  std::span<const PluginNode> nodes;  // same order; state before the start
};

class SchedPlugins {
 public:
  virtual ~SchedPlugins() = default;

  // In configuration order, which is also the order of the calls.
  virtual const std::vector<PluginFacts>& facts() const = 0;

  // Removes refused nodes from `allowed`, initially all. `why`: reason, maybe empty, or null.
  virtual void filter(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
                      Bitset& allowed, std::string* why) const = 0;
  // Higher is better. `scores` has one entry for each node, initially 0.
  virtual void score(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
                     std::span<std::int64_t> scores) const = 0;
  // Whether all placements may start together; if not, `why` gets the plugin's reason.
  virtual bool permit(std::size_t plugin, std::span<const PluginPlacement> placements,
                      std::string& why) const = 0;
};

// Compared by identity: a reloaded set of plugins makes a different policy.
struct SharedPlugins {
  std::shared_ptr<const SchedPlugins> value;  // null: there are none
  friend bool operator==(const SharedPlugins&, const SharedPlugins&) = default;
};

}  // namespace ares
