// What the scheduler asks of plugins that a site has added to its stages filter, score and permit, and what they are told.
// The scheduler sees this interface only; plugins/sched/adapter loads plugins and implements it. Shared
// and immutable; any thread may call it: the implementation lets one call in at a time.
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

// What beside its demand a plugin looks at. Jobs that differ in nothing that is looked at are one class, asked about once; what is
// not looked at is not told. The numbers are those of plugin/sched_abi.h.
enum class PluginLook : std::uint32_t {
  user = 1u << 0,
  account = 1u << 1,
  qos = 1u << 2,
  name = 1u << 3,
  comment = 1u << 4,
  job_id = 1u << 5,
  time_limit = 1u << 6,
  node_free = 1u << 7,  // of nodes: what is free; else they are told as if they were empty
};
using PluginLooks = std::uint32_t;
constexpr bool looks(PluginLooks all, PluginLook at) {
  return (all & static_cast<PluginLooks>(at)) != 0;
}

// What is known of one plugin without asking it.
struct PluginFacts {
  std::string name;
  std::vector<std::string> partitions;  // whose jobs it has a say in; empty = all
  PluginLooks looks_at = 0;
  bool filters = false, scores = false, permits = false;
};

// One job, or a class of jobs that look alike. Of the record only the key and the time limit count; of a class the key only if it is
// looked at.
struct PluginJob {
  const Job* job = nullptr;
  const Partition* partition = nullptr;
};

// A node as it is at the moment that is asked about. Everything is valid during the call.
struct PluginNode {
  const Node* node = nullptr;
  const Inventory* inventory = nullptr;  // in force, or what is configured until it registers
  std::int64_t free_cpus = 0;
  std::int64_t free_memory = 0;         // bytes
  std::span<const GpuIndex> gpus_used;  // ascending; the others are free
  const std::string* leaf = nullptr;    // its switch or block; null = none is known
};

// A start that is about to be proposed.
struct PluginPlacement {
  PluginJob job;                      // its key names the task of an array
  std::span<const NodeShare> shares;  // rank order; what it gets, device by device
  std::span<const PluginNode> nodes;  // of the same order, as they are before
};

class SchedPlugins {
 public:
  virtual ~SchedPlugins() = default;

  // In the order of the configuration, which is that in which they are asked.
  virtual const std::vector<PluginFacts>& facts() const = 0;

  // Takes the nodes that the plugin refuses from `allowed`, which has all of them. `why`, if not null, gets its words, which may be none.
  virtual void filter(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
                      Bitset& allowed, std::string* why) const = 0;
  // Higher is better. `scores`: one for each node, all 0 before.
  virtual void score(std::size_t plugin, const PluginJob& job, std::span<const PluginNode> nodes,
                     std::span<std::int64_t> scores) const = 0;
  // Whether all of these may start together; if not, `why` gets the plugin's words.
  virtual bool permit(std::size_t plugin, std::span<const PluginPlacement> placements,
                      std::string& why) const = 0;
};

// Another set is another policy.
struct SharedPlugins {
  std::shared_ptr<const SchedPlugins> value;  // null: there are none
  friend bool operator==(const SharedPlugins&, const SharedPlugins&) = default;
};

}  // namespace ares
