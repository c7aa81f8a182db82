// ClusterState: the whole state. A value; a copy is a cheap immutable snapshot, sharing records.
// The live one is owned by the engine thread and changed only by apply(); copies may be read by any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cow_map.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/accounts/accounts.h"
#include "model/accounts/current_usage.h"
#include "model/accounts/usage.h"
#include "model/cluster/node.h"
#include "model/cluster/reservation.h"
#include "model/engine/request.h"
#include "model/job/job.h"

namespace ares {

// Changes of a job that time alone causes, oldest first. Derived from the record, never stored.
enum class TimerKind : std::uint8_t {
  preparing,  // since Allocated; ends when all nodes are ready
  starting,   // since Started; ends when all nodes have reported Go
  finished,   // since the end, until the record is forgotten (tasks together with their array)
  deadline,   // latest time by which it must start or end: see deadline_timer_of
  notice,     // when a percentage of the time limit is used: see notice_timer_of
  gang,       // when its gang's timeout expires: see gang_timer_of
  kept,       // until when nodes are kept for a job that returns first
};
struct Timer {
  TimerKind kind = TimerKind::preparing;
  Time since{};
  JobKey job;
  friend auto operator<=>(const Timer&, const Timer&) = default;
};

// Key: (hash of user and job name, job id). Hashes may collide, so compare the records.
using NameKey = std::pair<std::uint64_t, JobId>;

// Reverse dependency index: (prerequisite, dependent). Pseudo-tasks as prerequisites: all tasks
// have started (kAllStarted); each task, for aftercorr arrays (kEachTask); of the dependent itself,
// that it is the first of its user and name (kFirstOfName).
using DependencyEdge = std::pair<JobKey, JobKey>;
inline constexpr TaskIndex kFirstOfName{TaskIndex::kNone - 3}, kAllStarted{TaskIndex::kNone - 2},
    kEachTask{TaskIndex::kNone - 1};

// Sum of the remembered requests of one user.
struct RequestLoad {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // approximate memory use
  friend bool operator==(const RequestLoad&, const RequestLoad&) = default;
};

// Time of a preemption, and the preempted attempt.
using EvictionKey = std::pair<Time, AttemptKey>;
inline constexpr Duration kEvictionsKept = std::chrono::hours(24);

struct ClusterState {
  ClusterId cluster;
  std::string history;                      // of the database: see JournalPosition
  std::vector<std::string> past_histories;  // those before it, which rollbacks ended
  Epoch epoch;
  Lsn lsn;              // of the last event applied
  Time now{};           // of the last event applied; decide() never uses an earlier time
  Time activated_at{};  // when the current epoch's controller became active
  JobId next_job_id{1};
  NodeId next_node_id{1};
  std::uint64_t config_hash = 0;
  Seconds lease{};        // currently granted; 0 = unknown
  Time old_leases_end{};  // until then nodes may rely on longer leases granted earlier

  CowMap<JobKey, Job> jobs;     // live jobs and recently finished ones
  CowMap<JobKey, Lsn> pending;  // index: pending records (an array while it has waiting tasks)
  CowMap<DependencyEdge, Lsn> dependents;                 // index: see DependencyEdge
  CowMap<Timer, Lsn> timers;                              // index: see TimerKind
  CowMap<std::pair<Time, RequestKey>, Lsn> request_ages;  // index: requests by expiry
  CowMap<UserId, RequestLoad> request_loads;              // index: of users with requests
  CowMap<std::string, std::uint32_t> licenses_used;       // index: numbers held by running jobs
  CowMap<JobKey, Lsn> preemption_claims;                  // index: pending jobs with a claim
  CowMap<NodeId, JobKey> kept_nodes;                      // index: nodes kept for one job
  CowMap<JobKey, Lsn> resumable;                          // index: jobs suspended by the scheduler
  CowMap<NameKey, Lsn> names;     // index: jobs and arrays that have not ended, see NameKey
  CowMap<GangMember, Lsn> gangs;  // index: members that have not ended
  // Index: usage of every key that has jobs that have not ended.
  CowMap<UsageKey, CurrentUsage> current_usage;
  // Preempted attempts of the last day and users of their preemptors, for limits of preemption.
  CowMap<EvictionKey, UserId> evictions;
  CowMap<NodeId, Node> nodes;
  CowMap<std::string, NodeId> node_ids;
  CowMap<NodeId, Lsn> watched;  // index: nodes that time changes, see is_watched()
  CowMap<std::string, Partition> partitions;
  CowMap<std::string, Reservation> reservations;
  CowMap<std::pair<std::string, std::string>, Lsn> members;  // index: (partition, node it names)
  CowMap<std::string, TresId> tres;
  CowMap<RequestKey, Request> requests;
  CowMap<RecordKey, AccountingRecord> accounting;  // accounts, users, associations, QOS, wckeys
  CowMap<AssociationId, AssociationUsage> usage;   // of all that have any
  std::uint64_t next_record_id = kFirstRecordId;   // of associations, QOS, wckeys; not reused
  Time usage_since{};                              // all usage before this does not count

  friend bool operator==(const ClusterState&, const ClusterState&) = default;
};

}  // namespace ares
