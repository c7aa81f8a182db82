// A job as the cluster knows it: the immutable specification a user wrote, and the record that events change.
// Owned by ClusterState; records are values, specifications are shared and never change. Any thread may read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/interval_set.h"
#include "base/time.h"
#include "base/units.h"
#include "model/accounts/accounts.h"
#include "model/cluster/node_share.h"
#include "model/cluster/resources.h"
#include "model/job/gang.h"
#include "model/job/gpu_constraint.h"

namespace ares {

// States and short codes are Slurm's. The order is that of the storage format: append only.
enum class JobState : std::uint8_t {
  pending,
  configuring,
  running,
  suspended,
  completing,  // live
  completed,
  failed,
  cancelled,
  timeout,
  node_fail,
  preempted,
  out_of_memory,
  boot_fail,
  deadline,  // terminal
};

constexpr bool is_terminal(JobState s) {
  return s >= JobState::completed;
}
constexpr bool holds_resources(JobState s) {
  return s >= JobState::configuring && s <= JobState::completing;
}
constexpr bool is_active(JobState s) {  // has started and is not ending
  return s == JobState::running || s == JobState::suspended;
}
std::string_view to_string(JobState s);   // "PENDING"
std::string_view short_code(JobState s);  // "PD"
std::optional<JobState> parse_job_state(std::string_view name_or_code);

enum class Hold : std::uint8_t { none, user, admin };

// Why a job is what it is: stored with terminal and held jobs, computed for pending ones. Names as `aqueue` shows them.
enum class Reason : std::uint8_t {
  none,
  priority,
  resources,
  dependency,
  dependency_never_satisfied,
  begin_time,
  job_held_user,
  job_held_admin,
  job_array_task_limit,
  partition_down,
  partition_time_limit,
  partition_node_limit,
  req_node_not_avail,
  bad_constraints,
  node_down,
  non_zero_exit_code,
  raised_signal,
  time_limit,
  out_of_memory,
  launch_failure,
  requeued,
  cancelled_dependency,
  max_requeues,
  invalid_partition,
  licenses,
  deadline,
  reservation,
  reservation_deleted,
  preempting,  // waits until the jobs that it preempts have ended
  preempted,
  waiting_for_gang,
  gang_member_lost,
  gang_timeout,
  plugin,  // a plugin of the scheduler refuses it
  invalid_account,
  invalid_qos,
  limit,  // of an account, user or QOS: PendingInfo::limit says which
};
inline constexpr Reason kLastReason = Reason::limit;
std::string_view to_string(Reason r);  // "JobHeldUser"

// 256-bit digest naming a stored blob (script, environment).
using BlobId = std::array<std::uint8_t, 32>;

struct GpuRequest {
  std::string type;  // empty = any one type, never a mixture
  std::uint32_t count = 0;
  std::uint32_t part =
      0;  // thousandths of one GPU, below 1000, in place of a count (model/job/gpu_part.h)
  friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

// One of several ways to give a job its GPUs (model/job/gpu_alternatives.h).
struct GpuAlternative {
  std::vector<GpuRequest> gpus;
  std::uint32_t cost = 1000;  // what an hour of the job counts as there, in thousandths
  friend bool operator==(const GpuAlternative&, const GpuAlternative&) = default;
};

enum class GpusPer : std::uint8_t { node, job, task };
inline constexpr GpusPer kLastGpusPer = GpusPer::task;

struct LicenseRequest {
  std::string name;
  std::uint32_t count = 0;
  friend bool operator==(const LicenseRequest&, const LicenseRequest&) = default;
};

enum class DependencyKind : std::uint8_t {
  after_any,
  after_ok,
  after_not_ok,
  after,
  after_corr,  // task by task of two arrays; for anything else like after_ok
  singleton,   // no earlier job of the same user and name is alive; has no target
};
inline constexpr DependencyKind kLastDependencyKind = DependencyKind::singleton;

struct Dependency {
  DependencyKind kind = DependencyKind::after_any;
  JobKey target;    // task none = the whole job or array
  Seconds delay{};  // of `after`: so long behind the target's start
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

enum class OpenMode : std::uint8_t { truncate, append };

struct ResourceLimit {  // a POSIX rlimit carried from the submitter's shell
  std::int32_t resource = 0;
  std::uint64_t soft = 0;
  friend bool operator==(const ResourceLimit&, const ResourceLimit&) = default;
};

// Immutable: changing a job puts another specification in its place. Times and sizes carry their units in their types; zero counts mean "not asked".
struct JobSpec {
  std::string name;
  UserId uid;
  GroupId gid;
  std::string user;  // resolved by the controller at submission, for display and accounting
  std::string account;
  std::string qos;
  std::string wckey;  // what the work is for, across accounts
  std::string comment;
  std::vector<std::string> partitions;  // in the user's order; never empty after admission

  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 1;
  std::uint32_t tasks = 1;
  std::uint32_t cpus_per_task = 1;
  std::uint32_t tasks_per_node = 0;
  std::optional<Bytes> memory_per_node;  // 0 = all of the node
  std::optional<Bytes> memory_per_cpu;
  std::vector<GpuRequest> gpus_per_node;
  std::vector<GpuRequest> gpus_total;  // --gpus: over all nodes
  std::vector<GpuRequest> gpus_per_task;
  std::uint32_t cpus_per_gpu = 0;
  std::optional<Bytes> memory_per_gpu;
  GpuConstraint gpu_constraint;            // on the GPUs that it gets on each node, all together
  std::optional<IntervalSet> node_counts;  // only these numbers of nodes; none = min to max
  bool exclusive = false;
  bool exclusive_user = false;              // nodes shared with jobs of the same user only
  std::vector<std::string> required_nodes;  // -w
  std::vector<std::string> excluded_nodes;  // -x
  std::vector<std::string> features;     // -C: constraints (model/job/constraint.h), all must hold
  std::string prefer;                    // constraint of each node that is met if it can be
  std::uint32_t switches = 0;            // at most so many leaf switches or blocks; 0 = any number
  std::optional<Seconds> switches_wait;  // after this much waiting any number will do; none = never
  std::uint32_t segment = 0;  // nodes come in groups of so many, each wholly in one block or leaf
  std::vector<std::string> reservations;  // in any of these; empty = in none
  std::vector<LicenseRequest> licenses;
  bool any_license = false;  // one of them is enough

  std::optional<Seconds> time_limit;  // none = the partition's default
  std::optional<Seconds> time_min;    // the limit may be lowered to this to start earlier
  std::optional<Time> begin;
  std::optional<Time> deadline;
  std::vector<Dependency> dependencies;  // all must be met,
  bool any_dependency = false;           // or just one
  bool kill_on_invalid_dependency = false;
  std::optional<std::uint32_t> priority;  // explicit, operators only
  std::int32_t nice = 0;
  bool hold = false;
  bool requeue = true;  // a node's failure or a request may run it again

  std::optional<IntervalSet> array;  // task indices
  std::uint32_t array_throttle = 0;  // at most so many tasks at once; 0 = no bound

  BlobId script{};
  BlobId environment{};  // NUL-separated NAME=value
  std::vector<std::string> arguments;
  std::string submit_dir;  // where asub ran
  std::string work_dir;    // --chdir, absolute
  std::string std_in, std_out,
      std_err;  // patterns (base/file_pattern.h); empty out = default, empty err = with out
  OpenMode open_mode = OpenMode::truncate;
  std::uint32_t umask = 022;
  std::vector<ResourceLimit> limits;
  std::string submit_host;
  std::string submit_zone;  // IANA name or TZ of the submitter
  std::string command;      // path of the script as typed, for `actl show job`

  std::uint32_t mail_types = 0;  // a set of MailType (model/job/mail.h)
  std::string mail_user;         // empty = the job's user

  // The lists that would do in place of one of those above, best first, that one among them: the job gets one of them, the same on all
  // its nodes. Empty: there is only the one.
  std::vector<GpuAlternative> gpu_alternatives;
  GpusPer alternatives_per = GpusPer::node;  // which list
  std::optional<GangRequest> gang;           // starts with the others of it

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

struct ExitStatus {
  std::int32_t code = 0;    // exit code of the batch script
  std::int32_t signal = 0;  // signal that ended it, 0 = none
  bool out_of_memory = false;
  bool timed_out = false;  // ended by the node's time limit
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

// That an attempt stands still, and who wanted it: an operator, or the job that it makes room for.
struct Suspension {
  Time at{};
  std::optional<UserId> by;
  std::string by_user;                 // the operator's name
  std::optional<JobKey> preempted_by;  // it resumes by itself when its CPUs are free again
  friend bool operator==(const Suspension&, const Suspension&) = default;
};

// So much of a TRES, under the name of accounting; memory in MiB, GPUs in thousandths.
struct TresAmount {
  std::string tres;
  std::uint64_t amount = 0;
  friend bool operator==(const TresAmount&, const TresAmount&) = default;
};

// Whose usage an attempt counts as, and at which rates: settled when it begins, whatever changes while it lasts. All
// zero: an earlier release began it, which settled that at its end.
struct ChargedTo {
  AssociationId association, qos, wckey;  // 0 = none
  std::uint64_t billing = 0;              // thousandths
  std::uint64_t still_billing = 0;        // likewise while it is suspended
  std::uint32_t factor = 0;               // of its QOS, thousandths
  AssociationId partition_qos{};          // the partition's, if that is another
  AssociationId account{};  // the account's own number, for when the association is gone
  friend bool operator==(const ChargedTo&, const ChargedTo&) = default;
};

struct Allocation {
  Fence fence;  // lsn of the Allocated event
  std::string partition;
  Time at{};
  NodeShares nodes;                   // rank order; the batch script runs on the first
  std::optional<Seconds> time_limit;  // none = unlimited
  std::vector<LicenseRequest> licenses{};
  Lsn limit_set{};  // of the event that changed the limit since; 0 = still what it was launched with
  std::uint32_t alternative = 0;  // which of the specification's gpu_alternatives it is, from 0
  std::optional<Suspension> suspension{};  // exactly while it is SUSPENDED
  Duration suspended{};                    // before that, in all: neither run nor charged for CPUs
  Lsn suspend_set{};           // of the event that suspended or resumed it last; 0 = never
  bool cpus_released = false;  // its charges hold no CPUs: from Suspended to Resumed or its end
  // What the shares do not tell, as it was when it began: gres/gpu:TYPE and billing; ascending. See tres_of().
  std::vector<TresAmount> tres{};
  ChargedTo charged_to{};
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// That an attempt is ended so that another job can start.
struct Preempted {
  JobKey by;
  Time at{};
  Seconds grace{};  // from its SIGTERM to SIGKILL
  friend bool operator==(const Preempted&, const Preempted&) = default;
};

// What a pending job was promised when others were ended for it: nobody else gets it until then.
struct PreemptionClaim {
  std::string partition;
  std::optional<Seconds> time_limit;  // none = unlimited
  NodeShares nodes;                   // rank order; others of the same GPUs and CPUs will do
  std::vector<LicenseRequest> licenses;
  std::vector<AttemptKey> victims;  // ascending
  Time at{};
  Time ready{};  // the end of the victims' grace
  Time until{};  // from here on it binds nobody any more
  friend bool operator==(const PreemptionClaim&, const PreemptionClaim&) = default;
};

// How a live attempt will end once every node has let go of it.
struct Ending {
  JobState state = JobState::completed;  // terminal state to show
  Reason reason = Reason::none;
  std::optional<UserId> by;  // who cancelled it
  bool requeue = false;      // run again as attempt + 1 instead of ending
  Hold hold = Hold::none;    // and hold it then
  bool node_fault = false;   // does not count against the job's budget
  std::optional<Preempted> preempted{};
  friend bool operator==(const Ending&, const Ending&) = default;
};

// Of an array's own record: the tasks that have not split off yet, and how the others stand.
struct ArrayState {
  IntervalSet waiting;  // tasks without a record of their own: pending, like the array
  std::uint32_t throttle = 0;
  std::uint32_t active = 0;        // split and not terminal
  std::uint32_t holding = 0;       // split and holding resources: what the throttle bounds
  std::uint32_t completed = 0;     // split and COMPLETED
  std::uint32_t unsuccessful = 0;  // split and terminal otherwise
  friend bool operator==(const ArrayState&, const ArrayState&) = default;
};

struct Job {
  JobKey key;
  JobId own_id;  // number of this very job: of an array task, array id + 1 + rank of its index
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::pending;
  Reason reason =
      Reason::none;  // of the terminal state or the hold; pending reasons are computed elsewhere
  Hold hold = Hold::none;
  std::uint32_t priority = 0;  // explicit, or the partition's default at submission
  bool priority_set = false;
  std::optional<Seconds> time_limit;    // as modified; none = the partition's default
  std::vector<Dependency> waiting_for;  // not yet met
  bool dependency_failed = false;
  std::optional<std::uint32_t> array_rank;  // position among the array's tasks

  Time submitted{};
  Time eligible{};  // since when it could have run, for age
  // Since when it gains age where only so many may at a time; none: there was no room for it since it could have run. Where no such
  // limit holds age counts from `eligible` on: see accruing_since() of core/accounts.
  std::optional<Time> accrues;
  std::optional<Time> started;  // of the current or last attempt; Elapsed runs from here
  std::optional<Time> ended;
  AttemptNo attempt{0};               // current or last; 0 = never allocated
  std::uint32_t time_noticed = 0;     // per cent of this attempt's limit that its owner was told of
  std::uint32_t restarts = 0;         // RESTART_COUNT
  std::uint32_t launch_failures = 0;  // in a row, all kinds: for back-off
  std::string
      cause;  // of the last failure, for people: "n1: cannot open output file /x: Permission denied"
  Time not_before{};                     // back-off after a failed launch, delay of `after`
  std::vector<NodeId> excluded;          // nodes that failed to launch it
  std::optional<Allocation> allocation;  // while it holds resources; kept for show when terminal
  std::optional<Ending>
      ending;  // set from the first cause of the end; kept when terminal (who cancelled it), gone when pending again
  ExitStatus exit;
  std::optional<ArrayState> array;                  // of an array's own record only
  std::optional<PreemptionClaim> preemption_claim;  // while it is pending and others end for it
  // Its last attempt was preempted and it has not started since: it preempts nobody on its way back.
  std::optional<Preempted> preempted;
  JobId gang{0};                // the number of its gang; 0 = none
  std::uint32_t gang_lost = 0;  // members lost before the start, as far as this one counts them
  Lsn version;                  // last event that touched the record

  friend bool operator==(const Job& a, const Job& b);  // compares specifications by value
};

// One finished or running attempt, the row of accounting: written when allocated, at start, at end. A job or array that is cancelled
// while it waits has one too, without an allocation.
struct Attempt {
  AttemptKey key;
  JobId own_id;
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::pending;
  Reason reason = Reason::none;
  std::optional<UserId> cancelled_by;
  Allocation allocation;
  Time submitted{};
  Time eligible{};
  std::optional<Time> started;
  std::optional<Time> ended;  // exactly when the state is terminal
  std::uint32_t restarts = 0;
  ExitStatus exit;
  std::uint32_t priority = 0;
  std::optional<Seconds>
      time_limit;  // as asked or modified, like Job's; of an allocation its own counts
  std::optional<IntervalSet>
      tasks;                // of an array's own row: the tasks it stands for, which never ran
  bool superseded = false;  // the job was requeued: another row follows, or will
  std::string cause;        // of a failure, for people, like Job's
};

// Waits to be started, by itself or with tasks: belongs into ClusterState::pending, under its version.
inline bool is_queued(const Job& job) {
  return job.state == JobState::pending && (!job.array || !job.array->waiting.empty());
}

// Whether it has never started and waits for all of its gang.
inline bool waits_with_gang(const Job& job) {
  return job.spec->gang && job.state == JobState::pending && job.attempt == AttemptNo{0};
}

}  // namespace ares
