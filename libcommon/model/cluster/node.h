// A node, a partition, and what is charged on a node.
// Owned by ClusterState; values. Any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"
#include "model/accounts/fairness.h"
#include "model/cluster/resources.h"
#include "model/policy/preempt_mode.h"

namespace ares {

enum class AdminState : std::uint8_t { up, drain, down };

enum class Contact : std::uint8_t {
  never,       // configured, has not registered
  registered,  // its current incarnation is known; whether it answers right now is not state but a view
  lost,        // silent for longer than every lease: NodeLost was journaled
};

// One attempt's charge on a node. It stays until the node says the attempt is gone, whatever became of the job.
struct Charge {
  AttemptKey attempt;
  Fence fence;
  std::uint32_t cpus = 0;
  Bytes memory{};
  std::vector<GpuIndex> gpus;
  std::vector<std::uint32_t> cpu_ids;
  std::optional<UserId> user{};  // of the job; none in what older releases stored
  bool exclusive_user = false;   // keeps the node for jobs of that user
  std::uint32_t gpu_part =
      0;  // thousandths of the one GPU that it shares; 0 = its GPUs are its own
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct Node {
  NodeId id;
  std::string name;
  Inventory configured;           // from ares.yaml; zero cpus = take what it registers with
  Inventory inventory;            // in force: what may be handed out
  std::uint64_t incarnation = 0;  // counter that registers; grows with every boot and every spool
  std::string incarnation_tag;    // spool UUID + boot id
  bool can_freeze = false;        // its supervisors can stop what they run when a lease ends
  AdminState admin = AdminState::up;
  Contact contact = Contact::never;
  std::string reason;  // of drain, down or refusal
  std::optional<UserId> reason_by;
  std::optional<Time> reason_at;
  std::optional<Time> registered_at;
  std::string address;
  std::string version_text;     // of its aresd
  std::vector<Charge> charges;  // ascending attempt key
  bool leaving = false;         // no longer configured: goes once nothing is charged to it
  Lsn version;

  friend bool operator==(const Node&, const Node&) = default;
};

// Which of the nodes that would do a job gets.
enum class PlacementStrategy : std::uint8_t {
  binpack,              // the tightest, so that whole nodes stay free
  spread,               // the emptiest
  least_fragmentation,  // where the fewest GPUs become useless to the jobs that there are
};
inline constexpr PlacementStrategy kLastPlacementStrategy = PlacementStrategy::least_fragmentation;

constexpr std::string_view to_string(PlacementStrategy strategy) {
  switch (strategy) {
    case PlacementStrategy::binpack: return "binpack";
    case PlacementStrategy::spread: return "spread";
    case PlacementStrategy::least_fragmentation: return "least_fragmentation";
  }
  return "binpack";
}

struct PlacementPolicy {
  PlacementStrategy cpu = PlacementStrategy::binpack;  // of jobs that ask for no GPUs
  PlacementStrategy gpu = PlacementStrategy::binpack;  // of the others
  friend bool operator==(const PlacementPolicy&, const PlacementPolicy&) = default;
};

struct Partition {
  std::string name;
  std::vector<std::string> nodes;  // names, expanded, in the configuration's order
  bool is_default = false;
  bool up = true;                       // jobs start here
  bool open = true;                     // new jobs are taken
  std::int32_t tier = 1;                // higher is planned first
  std::uint32_t priority = 0;           // default priority of its jobs
  std::optional<Seconds> max_time;      // none = unlimited
  std::optional<Seconds> default_time;  // none = max_time
  std::optional<std::uint32_t> max_nodes;
  std::uint32_t min_nodes = 1;
  Bytes default_memory_per_cpu{};  // 0 = all of the node is shared without a memory request
  bool exclusive = false;          // whole nodes only
  std::vector<std::string> allow_groups;
  PlacementPolicy placement;
  std::string topology;  // name of the network between its nodes; empty = nothing is known of it
  PreemptMode preempt_mode = PreemptMode::off;  // of its jobs as victims, unless their QOS says so
  std::string
      qos;  // whose limits hold for all of its jobs, beside those of their own; empty = none
  std::optional<TresWeights> billing_weights{};  // none = those of the site (Fairness)

  friend bool operator==(const Partition&, const Partition&) = default;
};

// Those that hold in the partition; without one, the site's.
inline const TresWeights& billing_weights(const Fairness& rules, const Partition* partition) {
  return partition && partition->billing_weights ? *partition->billing_weights
                                                 : rules.billing_weights;
}

// "UP", "DOWN" (nothing starts), "DRAIN" (nothing new is taken), "INACTIVE" (neither).
constexpr std::string_view state_text(const Partition& p) {
  if (p.open) return p.up ? "UP" : "DOWN";
  return p.up ? "DRAIN" : "INACTIVE";
}

}  // namespace ares
