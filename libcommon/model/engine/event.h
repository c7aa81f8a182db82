// All events that change the state. Closed; visited exhaustively, stored forever, append only.
// Plain data made by decide() on the engine thread; immutable afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/accounts/accounts.h"
#include "model/accounts/usage.h"
#include "model/cluster/node.h"
#include "model/cluster/reservation.h"
#include "model/engine/request.h"
#include "model/job/job.h"
#include "model/job/step_record.h"

namespace ares {

// A controller became active. Leases count from here, so a controller outage alone ends no job.
struct ControllerActivated {
  Epoch epoch;
  std::string host;
  JobId next_job_id;  // after --accept-rollback above all ids that nodes have reported
};
// The whole configuration now in force: partitions and configured nodes.
struct ConfigApplied {
  std::uint64_t hash = 0;
  std::vector<Partition> partitions;
  struct ConfiguredNode {
    NodeId id;
    std::string name;
    Inventory inventory;
  };
  std::vector<ConfiguredNode> nodes;
  Seconds lease{};  // granted to nodes from now on; 0 = written by a release that did not store it
};
struct TresDefined {
  Tres tres;
};

// --- jobs ---------------------------------------------------------------------------------------------------------------------
struct Submitted {
  JobKey key;                  // task none
  std::uint32_t id_count = 1;  // ids reserved: 1, or 1 + number of array tasks
  std::shared_ptr<const JobSpec> spec;
  std::uint32_t priority = 0;
  Hold hold = Hold::none;
  std::vector<Dependency> waiting_for;
};
struct TaskSplit {  // an array task gets its own record with its first individual event
  JobKey key;
  std::uint32_t rank = 0;
};
struct Held {
  JobKey key;
  Hold hold = Hold::user;
  Reason reason = Reason::job_held_user;
};
struct Released {
  JobKey key;
};
struct Modified {  // fields that are present are set
  JobKey key;
  std::optional<std::uint32_t> priority;
  bool set_time_limit = false;
  std::optional<Seconds> time_limit;
  std::shared_ptr<const JobSpec> spec{};                 // replaces the specification
  std::optional<std::vector<Dependency>> waiting_for{};  // also clears a failed dependency
  std::optional<std::uint32_t> array_throttle{};
  std::optional<std::string> was_named{};  // old name, if the new specification has another one
  // Of a gang member that waits: new value of Job::gang_lost.
  std::optional<std::uint32_t> gang_lost{};
};
struct DependencyMet {
  JobKey key;
  Dependency dependency;
  Time not_before{};  // end of the dependency's delay; zero without a delay
};
struct DependencyFailed {  // can never be met; the job stays pending with that reason
  JobKey key;
  Dependency dependency;
};
struct Allocated {
  JobKey key;
  AttemptNo attempt;
  std::string partition;
  std::optional<Seconds> time_limit;
  NodeShares nodes;  // the fence is the lsn of this event
  std::vector<LicenseRequest> licenses{};
  std::uint32_t alternative = 0;  // index into the specification's gpu_alternatives
  std::vector<TresAmount> tres{};
  ChargedTo charged_to{};
  std::uint16_t master_port = 0;  // LaunchSpec::master_port
  std::uint32_t priority = 0;     // as in Start; 0 = not known
};
struct NodeReady {
  AttemptKey attempt;
  NodeId node;
};
struct Started {  // all nodes are ready; the controller sends Go
  AttemptKey attempt;
};
struct NodeRunning {
  AttemptKey attempt;
  NodeId node;
};
struct LaunchFailed {
  AttemptKey attempt;
  NodeId node;
  bool node_fault = true;
  std::string cause;
  LaunchBlame blame = LaunchBlame::none;
};
// First cause of the end: the attempt becomes COMPLETING and all its nodes are told to stop it.
struct EndingBegan {
  AttemptKey attempt;
  Ending ending;
  std::string
      cause{};  // text for users of what failed on ending.failed_node; empty: nothing is known
};
struct BatchFinished {  // end of the batch script on rank 0
  AttemptKey attempt;
  ExitStatus exit;
  Time at{};
  Ending ending;
  std::string cause;  // reported by the node if the failure was not the script's
};
struct NodeReleased {  // nothing of the attempt is left on the node
  AttemptKey attempt;
  NodeId node;
  Usage usage;
};
// The node's word about the attempt is not waited for: its lease has certainly expired, or the node
// was declared dead. Charged until the node registers clean.
struct NodeFenced {
  AttemptKey attempt;
  NodeId node;
  std::string cause{};  // for the user, if nothing proves that the attempt does not run
};
struct ChargeCleared {  // the node registered without the attempt or with a new incarnation
  AttemptKey attempt;
  NodeId node;
};
struct Ended {  // terminal: a pending job was cancelled, or all nodes have released it
  JobKey key;
  JobState state = JobState::completed;
  Reason reason = Reason::none;
  std::optional<UserId> by;
};
struct Requeued {  // pending again: all nodes have released it, or it was terminal
  JobKey key;
  bool node_fault = false;
  Hold hold = Hold::none;
  Time not_before{};
};
struct Signalled {  // changes no state; journaled because the node needs its lsn
  AttemptKey attempt;
  std::int32_t signal = 0;
  bool batch_only = false;
  std::optional<std::uint32_t> step{};  // only this step; signal 0 ends it
  UserId by{};                          // with a step: who asked
};
struct Suspended {  // its processes are stopped and its CPUs are free for other jobs
  AttemptKey attempt;
  std::optional<UserId> by;            // set if an operator suspended it
  std::string by_user;                 // name of that operator
  std::optional<JobKey> preempted_by;  // set if the scheduler suspended it for this job
};
struct Resumed {
  AttemptKey attempt;
  std::optional<UserId> by;  // none: the scheduler
};
struct Forgotten {  // a finished job is removed from memory (accounting keeps it)
  JobKey key;
};

// Limits on accrual allow the job to gain age from `since`, not earlier than it became eligible.
struct AccrualBegan {
  JobKey key;
  Time since{};
};

// Resources of preempted jobs are reserved for this job. Each victim ends by a later EndingBegan.
struct Earmarked {
  JobKey key;
  PreemptionClaim preemption_claim;
};

// A failed job is to return first. Its healthy nodes are kept for it from now on.
struct ExpediteBegan {
  AttemptKey attempt;
  ExpeditedReturn expedited;
  std::uint32_t returns = 0;  // in a row, with this one
};
struct ExpediteExpired {  // the nodes kept for it are free for other jobs
  JobKey key;
};

// The attempt has published a checkpoint; the next one of the job may begin from it.
struct CheckpointCommitted {
  AttemptKey attempt;
  Checkpoint checkpoint;
};
// The attempt has looked at the checkpoints of the job and has begun from one, or from none.
struct CheckpointRestored {
  AttemptKey attempt;
  Restored restored;
};

// --- nodes --------------------------------------------------------------------------------------------------------------------
struct NodeRegistered {
  NodeId id;
  std::string name;
  std::string incarnation_tag;
  std::uint64_t incarnation = 0;
  Inventory inventory;  // in force from now on
  bool can_freeze = false;
  std::string version;
  std::string address;
  std::string enforced{};               // Register::enforced
  std::optional<Inventory> reported{};  // Node::reported
};
struct NodeAdminSet {
  NodeId id;
  AdminState admin = AdminState::up;
  std::string reason;
  std::optional<UserId> by;
};
struct NodeLost {  // silent for longer than every lease that it may hold, or its machine is gone
  NodeId id;
  Time since{};               // when it was last heard; zero in records of older releases
  bool machine_gone = false;  // as its agent says
};
struct NodeGuardSet {
  NodeId id;
  NodeGuard guard;
};
struct NodeRebootSet {
  NodeId id;
  std::optional<NodeReboot> reboot;  // none: it is over or was cancelled
};
struct NodeJoined {  // a node that no configuration names; it registers next
  NodeId id;
  std::string name;
  std::vector<std::string> partitions;
};
struct NodeLeft {  // removed when nothing is charged to it
  NodeId id;
  std::vector<std::string> partitions;  // that it was in
};
struct LateResult {  // a report under an old fence; recorded only
  AttemptKey attempt;
  Fence fence;
  NodeId node;
  std::string detail;
};

// --- partitions ---------------------------------------------------------------------------------------------------------------
struct PartitionModified {  // by a command; in force until a configuration is applied
  Partition partition;
};

// --- reservations -------------------------------------------------------------------------------------------------------------
struct NodeReplacement {
  NodeId gone, substitute;
};
struct ReservationSet {  // created, changed, or moved to its next occurrence
  Reservation reservation;
  std::vector<NodeReplacement> replaced{};  // nodes that the change exchanged by themselves
};
struct ReservationRemoved {  // by a command, or because it is over
  std::string name;
};

// --- accounting ---------------------------------------------------------------------------------------------------------------
struct AccountingChanged {  // by one command; all records at once
  std::vector<AccountingRecord> set;
  std::vector<RecordKey> removed;
  std::uint64_t next_record_id = kFirstRecordId;
};

struct UsageCharged {  // when an attempt has released all its resources
  AttemptKey attempt;
  AssociationUsage usage;                      // the association's new usage
  std::optional<AssociationUsage> of_qos{};    // new usage of its QOS, if that exists
  std::optional<AssociationUsage> of_wckey{};  // new usage of its wckey
  std::optional<AssociationUsage> of_partition_qos{};
};

struct UsageSet {  // reset, corrected, or moved from a removed user to the account
  std::vector<AssociationUsage> set;
  std::vector<AssociationId> gone;
  Time since{};  // all usage before this does not count; 0 = unchanged
};

// --- notices ------------------------------------------------------------------------------------------------------------------
// This percentage of the time limit is used. At most once an attempt, even if the limit changes.
struct TimeNoticed {
  AttemptKey attempt;
  std::uint32_t percent = 0;
};

// --- bookkeeping --------------------------------------------------------------------------------------------------------------
struct RequestRecorded {
  Request request;
};
struct RequestExpired {
  RequestKey key;
};
struct Audited {
  AuditEntry entry;
};
// How the steps of an attempt went; changes no state. Reported with the attempt's end by its first node.
struct StepsReported {
  AttemptKey attempt;
  std::vector<StepRecord> steps;
};
struct PlanPass {  // recorded so that a decision can be replayed
  Lsn seen;
  std::uint64_t budget = 0;
  std::uint64_t config_hash = 0;
};

using EventBody =
    std::variant<ControllerActivated, ConfigApplied, TresDefined, Submitted, TaskSplit, Held,
                 Released, Modified, DependencyMet, DependencyFailed, Allocated, NodeReady, Started,
                 NodeRunning, LaunchFailed, EndingBegan, BatchFinished, NodeReleased, NodeFenced,
                 ChargeCleared, Ended, Requeued, Signalled, Forgotten, NodeRegistered, NodeAdminSet,
                 NodeLost, LateResult, RequestRecorded, RequestExpired, Audited, PlanPass,
                 PartitionModified, TimeNoticed, ReservationSet, ReservationRemoved, Earmarked,
                 Suspended, Resumed, AccountingChanged, UsageCharged, UsageSet, AccrualBegan,
                 NodeGuardSet, NodeRebootSet, NodeJoined, NodeLeft, ExpediteBegan, ExpediteExpired,
                 StepsReported, CheckpointCommitted, CheckpointRestored>;

struct Event {
  Lsn lsn;
  Epoch epoch;
  Time at{};
  EventBody body;
};

}  // namespace ares
