// The rules a site sets in ares.yaml, as the pure core sees them. Immutable; replaced whole by a reconfiguration.
// Made by config/, shared by every thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/accounts/accounts.h"
#include "model/accounts/fairness.h"
#include "model/cluster/network.h"
#include "model/policy/sched_plugins.h"

namespace ares {

// Who may pass jobs that cannot start yet.
enum class BackfillKind : std::uint8_t {
  none,          // nobody passes the first that waits: first come, first served
  easy,          // whoever does not delay one of the first `reservations` that wait
  conservative,  // whoever delays nobody: every waiting job is promised its start
};

struct Backfill {
  BackfillKind kind = BackfillKind::easy;
  std::uint32_t reservations = 1;  // of `easy`; at least 1
  friend bool operator==(const Backfill&, const Backfill&) = default;
};

// Who may be ended so that others can start, beyond what partitions say (Partition::preempt_mode).
struct Preemption {
  bool by_qos = false;          // also within a partition, by the priorities of QOS
  std::uint32_t min_gap = 20;   // so much higher the priority of the preemptor's QOS must be
  Seconds min_age{60};          // that a victim has run
  Seconds grace{30};            // from a victim's SIGTERM to SIGKILL
  std::uint32_t per_hour = 10;  // jobs ended for the jobs of one user; 0 = no bound
  std::uint32_t per_day = 50;
  friend bool operator==(const Preemption&, const Preemption&) = default;
};

// What jobs are held to of accounts, QOS and their limits.
struct AccountingPolicy {
  Enforce enforce = Enforce::none;
  bool require_wckey = false;  // jobs run for a wckey of their user's, and for nothing else
  friend bool operator==(const AccountingPolicy&, const AccountingPolicy&) = default;
};

struct Policy {
  std::string cluster_name = "ares";
  ClusterId cluster{1};
  std::uint64_t config_hash = 0;

  std::vector<UserId> admins;  // may do everything; root and the controller's own user always are
  std::vector<UserId> operators;  // may act on everyone's jobs and on nodes

  Seconds lease{300};  // of requeueable attempts
  Seconds heartbeat{10};
  Seconds kill_wait{30};         // between TERM and KILL
  Seconds suspend_wait{2};       // between TSTP and STOP, where there is no freezer
  Seconds kill_allowance{10};    // time a node needs to freeze or kill after a lease ran out
  Seconds start_barrier{600};    // Started to Running on every node of a gang
  Seconds prepare_timeout{300};  // Allocated to Ready on every node
  Seconds min_job_age{300};      // how long a finished job stays in memory
  Seconds request_retention{24 * 3600};
  Seconds launch_backoff{5};  // after a node's fault; doubles, at most launch_backoff_max
  Seconds launch_backoff_max{300};

  std::uint32_t max_array_size = 100'001;  // bound of an array index
  std::uint32_t max_jobs = 1'000'000;      // records in memory
  std::uint32_t max_script_bytes = 4 << 20;
  std::uint32_t max_environment_bytes = 2 << 20;
  bool requeue_default = true;

  Backfill backfill;
  std::map<std::string, Backfill> backfill_of;  // of partitions that have rules of their own

  Preemption preemption;

  AccountingPolicy accounting;

  std::map<std::string, std::uint32_t> licenses;  // how many of each the site has

  SharedFairness fairness;  // who comes before whom
  Networks networks;        // that partitions may name
  SharedPlugins plugins;    // loaded, not read: whoever runs the scheduler puts them in

  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace ares
