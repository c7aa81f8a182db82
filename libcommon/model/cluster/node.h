// A node, a partition, and the charges on a node.
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
#include "model/cluster/node_guard.h"
#include "model/cluster/resources.h"
#include "model/policy/preempt_mode.h"

namespace ares {

// Stored as its number: append only.
enum class AdminState : std::uint8_t {
  up,
  drain,  // no job starts there
  down,   // an operator says that nothing runs there
  fail,   // like drain: it is expected to fail, or has
};
inline constexpr AdminState kLastAdminState = AdminState::fail;

enum class Contact : std::uint8_t {
  never,       // configured, but has not registered yet
  registered,  // its current incarnation is known; it may be unresponsive at the moment
  lost,        // silent for longer than every lease, or its machine is gone (event NodeLost)
};

// One attempt's charge on a node. It remains until the node reports that the attempt is gone.
struct Charge {
  AttemptKey attempt;
  Fence fence;
  std::uint32_t cpus = 0;
  Bytes memory{};
  std::vector<GpuIndex> gpus;
  std::vector<std::uint32_t> cpu_ids;
  std::optional<UserId> user{};  // owner of the job; none in records of older releases
  bool exclusive_user = false;   // only jobs of that user may share the node
  // Thousandths of the one GPU that it shares with others; 0 = it has whole GPUs.
  std::uint32_t gpu_part = 0;
  std::uint16_t master_port = 0;  // on the attempt's first node: Allocation::master_port
  Bytes tmp_disk{};               // temporary storage, also where the node does not know its own
  std::uint32_t cpu_thousandths = 0;  // as that of NodeShare
  friend bool operator==(const Charge&, const Charge&) = default;
};

struct Node {
  NodeId id;
  std::string name;
  Inventory configured;           // from ares.yaml; cpus == 0: use what the node registers with
  Inventory inventory;            // in force: what can be allocated
  std::uint64_t incarnation = 0;  // from registration; grows with each boot and new spool
  std::string incarnation_tag;    // spool UUID + boot id
  bool can_freeze = false;        // its supervisors can freeze processes when a lease ends
  AdminState admin = AdminState::up;
  Contact contact = Contact::never;
  std::string reason;  // of drain, down or refusal
  std::optional<UserId> reason_by;
  std::optional<Time> reason_at;
  std::optional<Time> registered_at;
  std::string address;
  std::string version_text;     // of its aresd
  std::string enforced;         // what its kernel holds jobs to; empty = not known
  std::vector<Charge> charges;  // ascending attempt key
  bool leaving = false;         // no longer configured: removed when nothing is charged to it
  Lsn version;
  // Of a lost node: when it was last heard. None in records of older releases.
  std::optional<Time> silent_since{};
  // Of a lost node: its agent still speaks and says that the machine is gone, so that nothing will
  // tell how its attempts end.
  bool machine_gone = false;
  NodeGuard guard{};
  std::optional<NodeReboot> reboot{};  // requested or under way
  // Partitions that it joined by a rule of `dynamic_nodes`. Empty: it is configured.
  std::vector<std::string> joined{};
  // What it has reported, if the configuration cuts its CPUs, memory or GPUs or says its temporary storage; without its texts.
  // None: the inventory. Records of older releases do not have it.
  std::optional<Inventory> reported{};

  friend bool operator==(const Node&, const Node&) = default;
};

// Whether jobs may start there now, as far as operators and the controller say. A node on trial gets one
// attempt at a time.
inline bool takes_jobs(const Node& node) {
  return node.admin == AdminState::up && node.contact == Contact::registered &&
         !(node.guard.on_trial && !node.charges.empty()) &&
         !(node.reboot && (node.reboot->asap || node.reboot->issued_at));
}

// Which of the suitable nodes a job gets.
enum class PlacementStrategy : std::uint8_t {
  binpack,              // the fullest, so that whole nodes stay free
  spread,               // the emptiest
  least_fragmentation,  // where the fewest GPUs become unusable for the current jobs
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
  PlacementStrategy gpu = PlacementStrategy::binpack;  // of jobs that ask for GPUs
  friend bool operator==(const PlacementPolicy&, const PlacementPolicy&) = default;
};

struct Partition {
  std::string name;
  std::vector<std::string> nodes;  // names, expanded, in the configuration's order
  bool is_default = false;
  bool up = true;                       // jobs start here
  bool open = true;                     // new jobs are accepted
  std::int32_t tier = 1;                // partitions with a higher tier are planned first
  std::uint32_t priority = 0;           // default priority of its jobs
  std::optional<Seconds> max_time;      // none = unlimited
  std::optional<Seconds> default_time;  // none = max_time
  std::optional<std::uint32_t> max_nodes;
  std::uint32_t min_nodes = 1;
  Bytes default_memory_per_cpu{};  // 0 = jobs without a request share all memory
  bool exclusive = false;          // whole nodes only
  std::vector<std::string> allow_groups;
  PlacementPolicy placement;
  std::string topology;                         // name of its network; empty = unknown
  PreemptMode preempt_mode = PreemptMode::off;  // of its jobs as victims, unless their QOS has one
  // QOS whose limits apply to all of its jobs, in addition to the jobs' own; empty = none.
  std::string qos;
  std::optional<TresWeights> billing_weights{};  // none = the site's (Fairness)
  // Of jobs that name no image, on nodes that run jobs in containers; empty = the node's.
  std::string container_image{};
  // The most CPUs of each of its nodes that its jobs have together; none = all of them.
  std::optional<std::uint32_t> max_cpus_per_node{};

  friend bool operator==(const Partition&, const Partition&) = default;
};

// The weights of the partition, or the site's if it has none.
inline const TresWeights& billing_weights(const Fairness& rules, const Partition* partition) {
  return partition && partition->billing_weights ? *partition->billing_weights
                                                 : rules.billing_weights;
}

// "UP", "DOWN" (no starts), "DRAIN" (no submissions), "INACTIVE" (neither).
constexpr std::string_view state_text(const Partition& p) {
  if (p.open) return p.up ? "UP" : "DOWN";
  return p.up ? "DRAIN" : "INACTIVE";
}

}  // namespace ares
