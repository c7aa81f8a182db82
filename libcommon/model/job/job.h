// A job: the immutable specification from the user, and the record that events change.
// Owned by ClusterState; records are values, specifications are shared and never change. Any thread may read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "base/boxed_or_default.h"
#include "base/boxed_string.h"
#include "base/boxed_vector.h"
#include "base/ids.h"
#include "base/interval_set.h"
#include "base/time.h"
#include "base/units.h"
#include "model/accounts/accounts.h"
#include "model/cluster/node_share.h"
#include "model/cluster/resources.h"
#include "model/job/binding.h"
#include "model/job/checkpoint.h"
#include "model/job/container.h"
#include "model/job/gang.h"
#include "model/job/gpu_constraint.h"
#include "model/job/warning_signal.h"

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

enum class Hold : std::uint8_t {
  none,
  user,
  admin,
  special_exit,  // as user; the job is shown in kSpecialExit
};
// How a pending job is shown that was requeued and held to be looked at. parse_job_state() takes both for PENDING.
inline constexpr std::string_view kSpecialExit = "SPECIAL_EXIT";
inline constexpr std::string_view kSpecialExitCode = "SE";

// Why a job is in its state. Stored for terminal and held jobs, computed for pending ones.
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
  limit,  // limit of an account, user or QOS; PendingInfo::limit names it
};
inline constexpr Reason kLastReason = Reason::limit;
std::string_view to_string(Reason r);  // "JobHeldUser"

// 256-bit digest naming a stored blob (script, environment).
using BlobId = std::array<std::uint8_t, 32>;

struct GpuRequest {
  std::string type;  // empty = any type, but the same for all
  std::uint32_t count = 0;
  // Thousandths of one GPU, below 1000, instead of a count (model/job/gpu_part.h).
  std::uint32_t part = 0;
  friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

// One of several ways to give a job its GPUs (model/job/gpu_alternatives.h).
struct GpuAlternative {
  std::vector<GpuRequest> gpus;
  std::uint32_t cost = 1000;  // an hour of the job counts as this many thousandths of an hour
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
  after_corr,  // task by task between two arrays; otherwise like after_ok
  singleton,   // no earlier job of the same user and name is alive; without a target
};
inline constexpr DependencyKind kLastDependencyKind = DependencyKind::singleton;

struct Dependency {
  DependencyKind kind = DependencyKind::after_any;
  JobKey target;    // task none = the whole job or array
  Seconds delay{};  // only for `after`: time since the start of the target
  friend bool operator==(const Dependency&, const Dependency&) = default;
};

enum class OpenMode : std::uint8_t { truncate, append };

struct ResourceLimit {  // a POSIX rlimit carried from the submitter's shell
  std::int32_t resource = 0;
  std::uint64_t soft = 0;
  friend bool operator==(const ResourceLimit&, const ResourceLimit&) = default;
};

// Immutable: a modification replaces the whole specification. Zero counts mean "not requested". There may be a million of them in
// memory: what few jobs have is boxed, and members of 1 and 4 bytes stand together at the end of their group.
struct JobSpec {
  std::string name;
  std::string user;  // resolved by the controller at submission, for display and accounting
  std::string account;
  std::string qos;
  BoxedString wckey;  // workload characterisation key: the purpose of the work, across accounts
  BoxedString comment;
  BoxedString extra;  // a text for other programs, such as JSON; nothing here reads it
  std::vector<std::string> partitions;  // in the user's order; never empty after admission
  UserId uid;
  GroupId gid;

  // What it needs.
  std::optional<Bytes> memory_per_node;  // 0 = all memory of the node
  std::optional<Bytes> memory_per_cpu;
  std::optional<Bytes> memory_per_gpu;
  Bytes tmp_disk{};  // temporary storage on each node; 0 = none asked for
  BoxedVector<GpuRequest> gpus_per_node;
  BoxedVector<GpuRequest> gpus_total;  // --gpus: over all nodes
  BoxedVector<GpuRequest> gpus_per_task;
  // Alternatives for the list that alternatives_per names, best first, including that list itself.
  // The job gets one of them, the same on all its nodes. Empty: there are no alternatives.
  BoxedVector<GpuAlternative> gpu_alternatives;
  Boxed<IntervalSet> node_counts;           // allowed numbers of nodes; none = min to max
  BoxedVector<std::string> required_nodes;  // -w
  BoxedVector<std::string> excluded_nodes;  // -x
  BoxedVector<std::string> features;      // -C: constraints (model/job/constraint.h), all must hold
  BoxedString prefer;                     // constraint on each node, used if it can be met
  BoxedVector<std::string> reservations;  // may use any of these; empty = no reservation
  BoxedVector<LicenseRequest> licenses;
  BoxedOrDefault<JobBinding> binding;    // of its tasks to CPUs, memory and GPUs
  Boxed<GangRequest> gang;               // starts together with the other members
  Boxed<ContainerRequest> container;     // none: it runs as the node and its partition have it
  std::optional<Seconds> switches_wait;  // after this wait `switches` is ignored; none = never
  GpuConstraint gpu_constraint;          // on all GPUs of the job on each node
  std::uint32_t min_nodes = 1;
  std::uint32_t max_nodes = 1;
  std::uint32_t tasks = 1;
  std::uint32_t cpus_per_task = 1;
  std::uint32_t tasks_per_node = 0;
  std::uint32_t cpus_per_gpu = 0;
  std::uint32_t switches = 0;  // maximum number of leaf switches or blocks; 0 = none
  std::uint32_t segment = 0;   // nodes come in groups of this size, each in one block or leaf
  // Number of its nodes that the script is not told of: they replace nodes that fail. The counts of
  // nodes and tasks above include them.
  std::uint32_t spare_nodes = 0;
  // Of --cpus-per-task with a fraction, of which cpus_per_task is the amount rounded up: nodes that count thousandths
  // of CPUs give this. Otherwise 0. Read it by cpu_thousandths_per_task() of model/job/requested.h.
  std::uint32_t cpu_thousandths_per_task = 0;
  GpusPer alternatives_per = GpusPer::node;  // the list that they replace
  bool exclusive = false;
  bool exclusive_user = false;  // its nodes are shared only with jobs of the same user
  bool any_license = false;     // one of the licenses is enough
  // Tasks for which a whole node has too few CPUs share all CPUs of the node.
  bool overcommit = false;

  // When it runs.
  bool any_dependency = false;
  bool kill_on_invalid_dependency = false;
  bool hold = false;
  bool requeue = true;    // may run again after a node failure or on request
  bool expedite = false;  // a failed attempt returns first: ExpeditedReturn
  std::int32_t nice = 0;
  std::optional<std::uint32_t> priority;  // explicit, operators only
  std::optional<Seconds> time_limit;      // none = the partition's default
  std::optional<Seconds> time_min;        // the limit may be lowered to this to start earlier
  std::optional<Time> begin;
  std::optional<Time> deadline;
  BoxedVector<Dependency> dependencies;  // all must be met, or one if any_dependency
  Boxed<IntervalSet> array;              // task indices
  Boxed<WarningSignal> warning;          // sent before the attempt is ended
  Boxed<CheckpointRequest> checkpoint;

  // What it runs.
  BlobId script{};
  BlobId environment{};  // NUL-separated NAME=value
  BoxedVector<std::string> arguments;
  std::string submit_dir;  // working directory of asub
  std::string work_dir;    // --chdir, absolute
  // Patterns (base/file_pattern.h); empty out = default, empty err = with out.
  BoxedString std_in;
  std::string std_out;
  BoxedString std_err;
  std::vector<ResourceLimit> limits;
  std::string submit_host;
  std::string submit_zone;  // IANA name or TZ of the submitter
  std::string submit_line;  // the command line of its submission, for accounting
  std::string command;      // path of the script as typed, for `actl show job`
  BoxedString mail_user;    // empty = the job's user

  std::uint32_t array_throttle = 0;  // maximum number of tasks at once; 0 = no maximum
  std::uint32_t umask = 022;
  std::uint32_t mail_types = 0;  // a set of MailType (model/job/mail.h)
  OpenMode open_mode = OpenMode::truncate;

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

struct ExitStatus {
  std::int32_t code = 0;    // exit code of the batch script
  std::int32_t signal = 0;  // signal that ended it, 0 = none
  bool out_of_memory = false;
  bool timed_out = false;  // ended by the node's time limit
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

// Suspension of an attempt, either by an operator or by the scheduler for a preemptor.
struct Suspension {
  Time at{};
  std::optional<UserId> by;
  std::string by_user;                 // the operator's name
  std::optional<JobKey> preempted_by;  // preemptor; it resumes when its CPUs are free again
  friend bool operator==(const Suspension&, const Suspension&) = default;
};

// An amount of one TRES under its accounting name; memory in MiB, GPUs in thousandths.
struct TresAmount {
  std::string tres;
  std::uint64_t amount = 0;
  friend bool operator==(const TresAmount&, const TresAmount&) = default;
};

// What an attempt's usage is charged to, and at which rates. Fixed when the attempt begins. All
// zero for attempts started by releases that computed this at the end.
struct ChargedTo {
  AssociationId association, qos, wckey;  // 0 = none
  std::uint64_t billing = 0;              // thousandths
  std::uint64_t still_billing = 0;        // billing rate while suspended, thousandths
  std::uint32_t factor = 0;               // usage factor of its QOS, thousandths
  AssociationId partition_qos{};          // the partition's QOS, if it differs from the job's
  AssociationId account{};  // id of the account itself, in case the association is removed
  friend bool operator==(const ChargedTo&, const ChargedTo&) = default;
};

struct Allocation {
  Fence fence;  // lsn of the Allocated event
  std::string partition;
  Time at{};
  NodeShares nodes;                   // rank order; the batch script runs on the first
  std::optional<Seconds> time_limit;  // none = unlimited
  std::vector<LicenseRequest> licenses{};
  Lsn limit_set{};  // lsn of the last event that changed the limit; 0 = unchanged since the launch
  std::uint32_t alternative = 0;           // index into the specification's gpu_alternatives
  std::optional<Suspension> suspension{};  // set exactly while the job is SUSPENDED
  Duration suspended{};                    // sum of earlier ones: not run time, no CPUs charged
  Lsn suspend_set{};                       // lsn of the last Suspended or Resumed event; 0 = none
  bool cpus_released = false;  // its charges hold no CPUs: from Suspended to Resumed or its end
  // TRES not in the shares, fixed at the start: gres/gpu:TYPE, billing; ascending. See tres_of().
  std::vector<TresAmount> tres{};
  ChargedTo charged_to{};
  std::uint16_t master_port = 0;  // LaunchSpec::master_port; charged to the first node
  std::uint32_t priority = 0;     // by which the job was ranked at its start; 0 = not known
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// The attempt is ended so that another job can start.
struct Preempted {
  JobKey by;
  Time at{};
  Seconds grace{};  // from its SIGTERM to SIGKILL
  friend bool operator==(const Preempted&, const Preempted&) = default;
};

// Resources of victims, reserved for the pending job that preempted them.
struct PreemptionClaim {
  std::string partition;
  std::optional<Seconds> time_limit;  // none = unlimited
  NodeShares nodes;                   // rank order; the start may use equivalent GPUs and CPUs
  std::vector<LicenseRequest> licenses;
  std::vector<AttemptKey> victims;  // ascending
  Time at{};
  Time ready{};  // the end of the victims' grace
  Time until{};  // the claim expires at this time
  friend bool operator==(const PreemptionClaim&, const PreemptionClaim&) = default;
};

// How a live attempt will end after every node has released it.
struct Ending {
  JobState state = JobState::completed;  // terminal state to show
  Reason reason = Reason::none;
  std::optional<UserId> by;  // the user that cancelled it
  bool requeue = false;      // run again as attempt + 1 instead of ending
  Hold hold = Hold::none;    // and set this hold on the requeued job
  bool node_fault = false;   // caused by a node: the requeued job waits for launch back-off
  std::optional<Preempted> preempted{};
  std::optional<NodeId> failed_node{};  // the node whose failure ends it
  friend bool operator==(const Ending&, const Ending&) = default;
};

// A failed job is served before all others. Until it starts, no other job starts on these nodes.
struct ExpeditedReturn {
  std::vector<NodeId> nodes;  // ascending; healthy nodes of the failed attempt
  Time until{};               // then the nodes are free for other jobs
  friend bool operator==(const ExpeditedReturn&, const ExpeditedReturn&) = default;
};

// In an array's own record: tasks that have not been split off yet, and counts of those that have.
struct ArrayState {
  IntervalSet waiting;  // tasks without a record; they are pending like the array
  std::uint32_t throttle = 0;
  std::uint32_t active = 0;        // split and not terminal
  std::uint32_t holding = 0;       // split and holding resources; bounded by the throttle
  std::uint32_t completed = 0;     // split and COMPLETED
  std::uint32_t unsuccessful = 0;  // split and terminal otherwise
  friend bool operator==(const ArrayState&, const ArrayState&) = default;
};

struct Job {
  JobKey key;
  JobId own_id;  // number of this record: of an array task, array id + 1 + rank of its index
  std::shared_ptr<const JobSpec> spec;
  JobState state = JobState::pending;
  // Of the terminal state or the hold; pending reasons are computed elsewhere (PendingInfo).
  Reason reason = Reason::none;
  Hold hold = Hold::none;
  std::uint32_t priority = 0;  // explicit, or the partition's default at submission
  bool priority_set = false;
  std::optional<Seconds> time_limit;    // as modified; none = the partition's default
  std::vector<Dependency> waiting_for;  // not yet met
  bool dependency_failed = false;
  std::optional<std::uint32_t> array_rank;  // position among the array's tasks

  Time submitted{};
  Time eligible{};  // first time at which it could have run; age counts from here
  // Where a limit bounds how many jobs gain age: since when it does; none = not yet. Without such
  // a limit age counts from `eligible`: see accruing_since() of core/accounts.
  std::optional<Time> accrues;
  std::optional<Time> started;  // of the current or last attempt; elapsed time counts from here
  std::optional<Time> ended;
  AttemptNo attempt{0};               // current or last; 0 = never allocated
  std::uint32_t time_noticed = 0;     // per cent of this attempt's limit of the last notice
  std::uint32_t restarts = 0;         // RESTART_COUNT
  std::uint32_t launch_failures = 0;  // consecutive failures of all kinds, for back-off
  // Failure of this attempt, or of the last one until it starts again, as text for users: "n1: cannot open
  // output file /x: Permission denied".
  std::string cause;
  Time not_before{};             // end of launch back-off or of the delay of `after`
  std::vector<NodeId> excluded;  // nodes that failed to launch it
  Boxed<Allocation> allocation;  // while it holds resources; kept for display when terminal
  // Set by the first cause of the end, kept when terminal, removed when pending again.
  Boxed<Ending> ending;
  ExitStatus exit;
  Boxed<ArrayState> array;                  // only in an array's own record
  Boxed<PreemptionClaim> preemption_claim;  // while it is pending and victims end
  // Its last attempt was preempted. Until it starts again it does not preempt other jobs.
  Boxed<Preempted> preempted;
  JobId gang{0};                        // number of its gang; 0 = none
  std::uint32_t gang_lost = 0;          // lost members of its gang that are counted in this record
  Boxed<ExpeditedReturn> expedited;     // since its attempt failed, until it starts
  std::uint32_t expedited_returns = 0;  // in a row, see core/cluster/expedite.h
  Lsn version;                          // last event that touched the record
  // The newest that it has committed, newest first; as many as its specification keeps.
  std::vector<Checkpoint> checkpoints{};
  Boxed<Restored> restored{};  // of the last attempt that had checkpoints to begin from

  friend bool operator==(const Job& a, const Job& b);  // compares specifications by value
};

// One finished or running attempt: the row of accounting, written at allocation, start and end. A
// job or array that is cancelled while pending also has one, without an allocation.
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
  std::optional<Time> ended;  // set exactly when the state is terminal
  std::uint32_t restarts = 0;
  ExitStatus exit;
  std::uint32_t priority = 0;
  // As requested or modified, like Job's. With an allocation, the limit of that one counts.
  std::optional<Seconds> time_limit;
  // In an array's own row: the tasks that it represents, which never ran.
  std::optional<IntervalSet> tasks;
  bool superseded = false;  // the job was requeued: a row of the next attempt follows
  std::string cause;        // of a failure, text for users, like Job's
};

// Whether the job or a task without a record is pending. ClusterState::pending has these jobs.
inline bool is_queued(const Job& job) {
  return job.state == JobState::pending && (!job.array || !job.array->waiting.empty());
}

// Whether it, or a task without a record, has never started and waits for the other members of its
// gang.
inline bool waits_with_gang(const Job& job) {
  return job.spec->gang && is_queued(job) && job.attempt == AttemptNo{0};
}

}  // namespace ares
