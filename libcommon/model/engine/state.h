// ClusterState: all that is true. A value; a copy is a cheap immutable snapshot that shares every record.
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

// What time alone may change about a job, oldest first: found again from the record (timer_of), so never stored.
enum class TimerKind : std::uint8_t {
  preparing,  // since Allocated: not every node is ready
  starting,   // since Started: not every node has reported Go
  finished,   // since the end, until the record is forgotten (tasks go with their array)
  deadline,   // since when it can only end: see deadline_timer_of
  notice,     // since when a share of the time limit is used: see notice_timer_of
  gang,       // since when its gang should have started: see gang_timer_of
};
struct Timer {
  TimerKind kind = TimerKind::preparing;
  Time since{};
  JobKey job;
  friend auto operator<=>(const Timer&, const Timer&) = default;
};

// Jobs of one user and name lie together, ascending. A hash: who finds two names in one place looks at the records.
using NameKey = std::pair<std::uint64_t, JobId>;

// What a record waits for, then the record: those that wait for one thing lie together, ascending. Besides tasks and whole jobs (no
// task) that is, of a job named whole: that all of it has begun; for arrays that wait task by task (aftercorr), each of its tasks; and
// of a job of its own, that it is the first of its user and name (singleton).
using DependencyEdge = std::pair<JobKey, JobKey>;
inline constexpr TaskIndex kFirstOfName{TaskIndex::kNone - 3}, kAllStarted{TaskIndex::kNone - 2},
    kEachTask{TaskIndex::kNone - 1};

// What one user's remembered requests come to.
struct RequestLoad {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // about what they take in memory
  friend bool operator==(const RequestLoad&, const RequestLoad&) = default;
};

// When an attempt was preempted, and which.
using EvictionKey = std::pair<Time, AttemptKey>;
inline constexpr Duration kEvictionsKept = std::chrono::hours(24);

struct ClusterState {
  ClusterId cluster;
  std::string history;                      // of the database: see JournalPosition
  std::vector<std::string> past_histories;  // those before it, which rollbacks ended
  Epoch epoch;
  Lsn lsn;              // of the last event applied
  Time now{};           // of the last event applied; decisions never see an earlier one
  Time activated_at{};  // when the current epoch's controller became active
  JobId next_job_id{1};
  NodeId next_node_id{1};
  std::uint64_t config_hash = 0;
  Seconds lease{};        // granted now; 0 = not known
  Time old_leases_end{};  // until then nodes may count on a longer one, granted before

  CowMap<JobKey, Job> jobs;     // all in memory: live ones and recently finished
  CowMap<JobKey, Lsn> pending;  // index: pending records (an array counts while tasks wait)
  CowMap<DependencyEdge, Lsn> dependents;  // index: (what is waited for, record that waits for it)
  CowMap<Timer, Lsn> timers;               // index: see TimerKind
  CowMap<std::pair<Time, RequestKey>, Lsn> request_ages;  // index: requests by expiry
  CowMap<UserId, RequestLoad> request_loads;              // index: of every user who has requests
  CowMap<std::string, std::uint32_t> licenses_used;       // index: held by running jobs
  CowMap<JobKey, Lsn> preemption_claims;                  // index: pending jobs with an earmark
  CowMap<JobKey, Lsn> resumable;  // index: suspended jobs that go on by themselves
  CowMap<NameKey, Lsn> names;     // index: jobs and arrays that have not ended, by user and name
  CowMap<GangMember, Lsn> gangs;  // index: members that have not ended
  CowMap<UsageKey, CurrentUsage>
      current_usage;  // index: of every holder who has jobs that have not ended
  // Attempts ended for others in the last day, and whose those others were: what the limits of preemption count.
  CowMap<EvictionKey, UserId> evictions;
  CowMap<NodeId, Node> nodes;
  CowMap<std::string, NodeId> node_ids;
  CowMap<std::string, Partition> partitions;
  CowMap<std::string, Reservation> reservations;
  CowMap<std::pair<std::string, std::string>, Lsn> members;  // index: (partition, node it names)
  CowMap<std::string, TresId> tres;
  CowMap<RequestKey, Request> requests;
  CowMap<RecordKey, AccountingRecord> accounting;  // accounts, users, associations, QOS, wckeys
  CowMap<AssociationId, AssociationUsage> usage;   // of those that ever used anything
  std::uint64_t next_record_id = kFirstRecordId;  // of associations, QOS, wckeys; never given twice
  Time usage_since{};                             // what anybody used before counts no more

  friend bool operator==(const ClusterState&, const ClusterState&) = default;
};

}  // namespace ares
