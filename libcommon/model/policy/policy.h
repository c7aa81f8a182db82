// The site's rules from ares.yaml for the pure core. Immutable; reconfiguration replaces all of it.
// Made by config/, shared by every thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/accounts/accounts.h"
#include "model/accounts/fairness.h"
#include "model/cluster/network.h"
#include "model/policy/sched_plugins.h"

namespace ares {

// Which jobs may start before a waiting job of higher priority.
enum class BackfillKind : std::uint8_t {
  none,          // no job: strict priority order (FCFS)
  easy,          // jobs that do not delay any of the first `reservations` waiting jobs
  conservative,  // jobs that delay no waiting job: each waiting job has a planned start
};

struct Backfill {
  BackfillKind kind = BackfillKind::easy;
  std::uint32_t reservations = 1;  // number of planned starts, for `easy`; at least 1
  friend bool operator==(const Backfill&, const Backfill&) = default;
};

// Limits of preemption, beyond the partitions' preemption modes (Partition::preempt_mode).
struct Preemption {
  bool by_qos = false;          // also within a partition, by QOS priority
  std::uint32_t min_gap = 20;   // minimum difference of QOS priorities, preemptor minus victim
  Seconds min_age{60};          // minimum time that a victim has run
  Seconds grace{30};            // from a victim's SIGTERM to SIGKILL
  std::uint32_t per_hour = 10;  // victims of the jobs of one user; 0 = no maximum
  std::uint32_t per_day = 50;
  friend bool operator==(const Preemption&, const Preemption&) = default;
};

// Which rules about accounts, QOS and their limits are enforced.
struct AccountingPolicy {
  Enforce enforce = Enforce::none;
  bool require_wckey = false;  // each job needs a wckey that its user has
  friend bool operator==(const AccountingPolicy&, const AccountingPolicy&) = default;
};

// When a node is set aside because launches fail there (core/cluster/launch_guard).
struct LaunchGuard {
  std::uint32_t failures = 3;  // this many within the window; 0 = never
  Seconds window{600};
  Seconds retry_after{600};  // until it is tried again; doubles each time that fails
  friend bool operator==(const LaunchGuard&, const LaunchGuard&) = default;
};

// Bounds of the expedited return of failed jobs (core/cluster/expedite.h).
struct Expedite {
  std::uint32_t most = 3;  // returns in a row; 0 = never
  Seconds long_run{3600};  // an attempt that ran this long begins the count anew
  Seconds keep{600};       // how long nodes are kept for a job
  friend bool operator==(const Expedite&, const Expedite&) = default;
};

// Nodes that join a cluster by all rules together.
inline constexpr std::size_t kMostDynamicNodes = 10'000;

// Nodes that no configuration names may join: under these names, or under all that begin with a prefix.
struct DynamicNodes {
  std::vector<std::string> names;       // expanded host list; empty if there is a prefix
  std::vector<std::string> partitions;  // that they join
  std::uint32_t most = 0;               // how many of them at a time; 0 = all names
  std::string prefix{};                 // of names; empty: `names` has them
  std::vector<std::string> features{};  // that such a node must have
  friend bool operator==(const DynamicNodes&, const DynamicNodes&) = default;
};

// Which nodes return to service when they register.
inline constexpr std::uint32_t kReturnNever = 0;   // none that was lost
inline constexpr std::uint32_t kReturnLost = 1;    // those that were lost
inline constexpr std::uint32_t kReturnAlways = 2;  // also those that an operator set down

// Jobs over a limit of a partition, in time or nodes, that name it.
enum class PartitionLimits : std::uint8_t {
  any,   // are refused if no partition of the job permits them
  all,   // are refused if one of the job's partitions does not
  none,  // are accepted, and wait until the limit is raised
};
inline constexpr std::array<std::string_view, 3> kPartitionLimitsNames{"any", "all", "none"};

// TCP ports of nodes, both ends included; first = 0: none.
struct PortRange {
  std::uint16_t first = 0, last = 0;
  friend bool operator==(const PortRange&, const PortRange&) = default;
};

struct Policy {
  std::string cluster_name = "ares";
  ClusterId cluster{1};
  std::uint64_t config_hash = 0;

  std::vector<UserId> admins;     // may do everything, like root and the controller's user
  std::vector<UserId> operators;  // may act on all users' jobs and on nodes

  Seconds lease{300};  // of requeueable attempts
  Seconds heartbeat{10};
  Seconds kill_wait{30};         // between SIGTERM and SIGKILL
  Seconds suspend_wait{2};       // between SIGTSTP and SIGSTOP, where there is no freezer
  Seconds kill_allowance{10};    // time a node needs to freeze or kill after a lease expired
  Seconds start_barrier{600};    // maximum time from Started until every node of the job runs it
  Seconds prepare_timeout{300};  // maximum time from Allocated until every node is ready
  // From a node's last message until it counts as dead; 0 = never.
  Seconds dead_node_timeout{4 * 3600};
  Seconds min_job_age{300};  // how long a finished job stays in memory
  Seconds request_retention{24 * 3600};
  Seconds launch_backoff{5};  // after a node's fault; doubles, at most launch_backoff_max
  Seconds launch_backoff_max{300};
  LaunchGuard launch_guard;
  Seconds max_clock_offset{60};  // of a node that is to serve; 0 = any
  std::uint32_t return_to_service = kReturnLost;
  Seconds resume_timeout{1800};  // from the order to reboot until the node registers
  std::vector<DynamicNodes> dynamic_nodes;

  std::uint32_t max_array_size = 100'001;  // upper bound of array indices
  std::uint32_t max_jobs = 1'000'000;      // records in memory
  std::uint32_t max_script_bytes = 4 << 20;
  std::uint32_t max_environment_bytes = 2 << 20;
  bool requeue_default = true;
  PartitionLimits enforce_partition_limits = PartitionLimits::any;

  Backfill backfill;
  std::map<std::string, Backfill> backfill_of;  // partitions with rules different from the site's

  Preemption preemption;
  Expedite expedite;

  AccountingPolicy accounting;

  PortRange master_ports{20000, 24999};  // of which attempts of several tasks get one: MASTER_PORT

  std::map<std::string, std::uint32_t> licenses;  // number of each that the site has

  SharedFairness fairness;  // the order of the queue
  Networks networks;        // partitions refer to them by name
  SharedPlugins plugins;    // set by the process that runs the scheduler, not read from the file

  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace ares
