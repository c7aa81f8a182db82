// Everything that can change the cluster's state. Closed: visited exhaustively, stored for ever, append only.
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

namespace ares {

// A controller became active. Leases count from here, so that an outage of the controller alone costs no job.
struct ControllerActivated {
  Epoch epoch;
  std::string host;
  JobId next_job_id;  // raised above everything any node has reported, after --accept-rollback
};
// The configuration in force: partitions and configured nodes, whole.
struct ConfigApplied {
  std::uint64_t hash = 0;
  std::vector<Partition> partitions;
  struct ConfiguredNode {
    NodeId id;
    std::string name;
    Inventory inventory;
  };
  std::vector<ConfiguredNode> nodes;
  Seconds lease{};  // that nodes are granted from here on; 0 = a release before told nothing of it
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
struct TaskSplit {  // an array task gets a record of its own, at its first private event
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
struct Modified {  // a field is set where present
  JobKey key;
  std::optional<std::uint32_t> priority;
  bool set_time_limit = false;
  std::optional<Seconds> time_limit;
  std::shared_ptr<const JobSpec> spec{};                 // in place of the one before
  std::optional<std::vector<Dependency>> waiting_for{};  // a failed dependency is forgotten with it
  std::optional<std::uint32_t> array_throttle{};
  std::optional<std::string> was_named{};  // where the specification brings another name
  std::optional<std::uint32_t>
      gang_lost{};  // of a gang that waits: members lost, as this one counts them
};
struct DependencyMet {
  JobKey key;
  Dependency dependency;
  Time not_before{};  // end of its delay; zero without one
};
struct DependencyFailed {  // can never be met; the job stays and says so
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
  std::uint32_t alternative = 0;  // of the specification's gpu_alternatives
  std::vector<TresAmount> tres{};
  ChargedTo charged_to{};
};
struct NodeReady {
  AttemptKey attempt;
  NodeId node;
};
struct Started {  // all nodes are ready: Go is owed
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
};
// The first cause of the end: from here on the attempt is COMPLETING and everything it has is told to stop.
struct EndingBegan {
  AttemptKey attempt;
  Ending ending;
};
struct BatchFinished {  // the script's own end, on rank 0
  AttemptKey attempt;
  ExitStatus exit;
  Time at{};
  Ending ending;
  std::string cause;  // what the node says went wrong, if it was not the script
};
struct NodeReleased {  // nothing of the attempt is left on the node
  AttemptKey attempt;
  NodeId node;
  Usage usage;
};
struct
    NodeFenced {  // the attempt's lease on this node has certainly run out; the charge stays until the node registers clean
  AttemptKey attempt;
  NodeId node;
};
struct ChargeCleared {  // the node registered without the attempt, or in a new incarnation
  AttemptKey attempt;
  NodeId node;
};
struct Ended {  // pending (cancelled) or released everywhere: terminal
  JobKey key;
  JobState state = JobState::completed;
  Reason reason = Reason::none;
  std::optional<UserId> by;
};
struct Requeued {  // released everywhere, or terminal and asked for: pending again, next attempt
  JobKey key;
  bool node_fault = false;
  Hold hold = Hold::none;
  Time not_before{};
};
struct Signalled {  // not state; journaled because it carries its lsn to the node
  AttemptKey attempt;
  std::int32_t signal = 0;
  bool batch_only = false;
};
struct Suspended {  // its processes stand still, its CPUs are free for others
  AttemptKey attempt;
  std::optional<UserId> by;            // an operator,
  std::string by_user;                 // of that name,
  std::optional<JobKey> preempted_by;  // or the scheduler, for that job
};
struct Resumed {
  AttemptKey attempt;
  std::optional<UserId> by;  // none: the scheduler
};
struct Forgotten {  // a finished job leaves the controller's memory (it stays in accounting)
  JobKey key;
};

// There is room for one more waiting job to gain age under the limits on that. From then on, not before it could have run.
struct AccrualBegan {
  JobKey key;
  Time since{};
};

// Jobs are ended so that this one can start, each by an EndingBegan behind it; what they leave is kept for it.
struct Earmarked {
  JobKey key;
  PreemptionClaim preemption_claim;
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
};
struct NodeAdminSet {
  NodeId id;
  AdminState admin = AdminState::up;
  std::string reason;
  std::optional<UserId> by;
};
struct NodeLost {  // silent for longer than every lease it may hold
  NodeId id;
};
struct LateResult {  // a report under an old fence: recorded, changes nothing
  AttemptKey attempt;
  Fence fence;
  NodeId node;
  std::string detail;
};

// --- partitions ---------------------------------------------------------------------------------------------------------------
struct PartitionModified {  // by a command; lasts until a configuration is applied
  Partition partition;
};

// --- reservations -------------------------------------------------------------------------------------------------------------
struct ReservationSet {  // made, changed, or moved to its next occurrence
  Reservation reservation;
};
struct ReservationRemoved {  // by a command, or because its time is over
  std::string name;
};

// --- accounting ---------------------------------------------------------------------------------------------------------------
struct AccountingChanged {  // by a command, all at once
  std::vector<AccountingRecord> set;
  std::vector<RecordKey> removed;
  std::uint64_t next_record_id = kFirstRecordId;
};

struct UsageCharged {  // for an attempt that has let go of everything
  AttemptKey attempt;
  AssociationUsage usage;                      // what the association's comes to with it
  std::optional<AssociationUsage> of_qos{};    // likewise its QOS's, if that exists
  std::optional<AssociationUsage> of_wckey{};  // and its wckey's
  std::optional<AssociationUsage> of_partition_qos{};
};

struct UsageSet {  // reset, corrected, or taken over by an account from who left it
  std::vector<AssociationUsage> set;
  std::vector<AssociationId> gone;
  Time since{};  // what anybody used before counts no more; 0 = as it was
};

// --- notices ------------------------------------------------------------------------------------------------------------------
struct
    TimeNoticed {  // so much of the time limit is used: once an attempt, whatever becomes of the limit
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
struct PlanPass {  // so that a decision can be replayed
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
                 Suspended, Resumed, AccountingChanged, UsageCharged, UsageSet, AccrualBegan>;

struct Event {
  Lsn lsn;
  Epoch epoch;
  Time at{};
  EventBody body;
};

}  // namespace ares
