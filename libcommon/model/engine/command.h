// Commands to the engine from users, nodes, the scheduler and timers. Closed; visited exhaustively.
// Made by ingress (any thread), consumed by the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/accounts/usage.h"
#include "model/engine/event.h"
#include "model/engine/node_message.h"
#include "model/engine/plan.h"
#include "model/engine/request.h"
#include "model/job/job.h"
#include "model/policy/policy.h"

namespace ares {

struct Blob {
  BlobId id{};
  std::shared_ptr<const std::string> content;
};

// The jobs a command acts on: `12`, `12_3`, or all of the caller's jobs that match the filters.
struct JobSelector {
  std::vector<JobKey> keys;    // may name array tasks that have no record yet
  std::vector<JobId> own_ids;  // "5" may be the number of an array task
  std::optional<UserId> user;  // filters: all that are set must match
  std::optional<JobState> state;
  std::string name, partition, account, qos, wckey, node;
  bool everything = false;  // no keys: only the filters select
};

struct Submit {
  std::shared_ptr<const JobSpec> spec;
  std::vector<Blob> blobs;
};
// All are accepted or none. They cannot depend on each other. Equal specifications may be shared.
struct SubmitMany {
  std::vector<std::shared_ptr<const JobSpec>> specs;
  std::vector<Blob> blobs;
};
struct Cancel {
  JobSelector jobs;
  std::int32_t signal = 0;  // 0 = end the job; otherwise only send this signal
  bool batch_only = false;
  std::optional<std::uint32_t> step{};  // only this step of each of the jobs
};
struct HoldJobs {
  JobSelector jobs;
  bool as_user = false;  // an operator's hold that the owner may release
};
struct ReleaseJobs {
  JobSelector jobs;
};
struct RequeueJobs {
  JobSelector jobs;
  bool hold = false;
  bool incomplete = false;    // skip COMPLETED and pending jobs without an error
  bool special_exit = false;  // with `hold`: Hold::special_exit
};
struct SuspendJobs {  // operators only
  JobSelector jobs;
};
struct ResumeJobs {
  JobSelector jobs;
};
struct UpdateJob {
  JobSelector jobs;
  std::optional<std::uint32_t> priority;
  bool set_time_limit = false;
  std::optional<Seconds> time_limit;
  // Added to the limit that each job has, in place of time_limit; 0 = none. Needs set_time_limit.
  Seconds time_limit_change{};
  std::optional<std::uint32_t> array_throttle{};  // only for whole arrays; 0 = no maximum
  std::vector<std::string> fields{};        // changed fields, by their names in api.proto's JobSpec
  std::shared_ptr<const JobSpec> values{};  // the new values of `fields`
};
struct UpdateNode {
  std::vector<std::string> names;
  AdminState admin = AdminState::up;
  std::string reason;
  bool drained_only = false;  // `up` is refused for nodes that are down
  bool reason_only = false;   // set the reason of nodes out of service and ignore `admin`
};

struct RebootNodes {
  std::vector<std::string> names;
  bool asap = false;
  AfterReboot after = AfterReboot::as_before;
  std::string reason;
  bool cancel = false;  // takes requests back that were not issued yet
};
struct DeleteNodes {  // nodes that joined
  std::vector<std::string> names;
};

struct UpdatePartition {
  std::vector<std::string> names;
  std::vector<std::string> fields;  // changed fields, by their names in api.proto's Partition
  Partition values;                 // the new values of `fields`
};
struct CreateReservation {
  Reservation values;
  std::uint32_t node_count = 0;  // if `nodes` is empty: how many nodes to choose among idle ones
  bool all_nodes = false;
  std::string partition;               // choose nodes of this partition; empty = of all
  std::optional<Duration> duration{};  // instead of an end time
  bool keeps_nodes = false;            // chosen nodes are not exchanged when they are down
};
struct UpdateReservation {
  std::string name;
  std::vector<std::string> fields;  // changed fields, by their names in api.proto's Reservation
  Reservation values;               // the new values of `fields`
  bool all_nodes = false;
  std::optional<Duration> duration{};  // used with the field "duration"
};
struct DeleteReservations {
  std::vector<std::string> names;
};
// A change of one accounting record.
struct AccountingChange {
  enum class Verb : std::uint8_t { add, modify, remove };
  Verb verb = Verb::add;
  // The new record; a removal uses only its names. Ids and `changed` are ignored.
  AccountingRecord record;
  Lsn seen;  // modify, remove: `changed` of the record that the caller saw
};
// All are applied or none. Their order does not matter: only the result must be consistent.
struct ChangeAccounting {
  std::vector<AccountingChange> changes;
};
// Resets the usage of associations, QOS, wckeys, and accounts with their subtrees. Empty = all.
struct ResetUsage {
  std::vector<RecordKey> of;
};
// Differences between the charged usage and the sum over the accounting rows of attempts.
struct CorrectUsage {
  std::vector<UsageCorrection> corrections;
};
struct ApplyConfig {
  std::uint64_t hash = 0;
  std::vector<Partition> partitions;
  std::vector<std::pair<std::string, Inventory>> nodes;
  Seconds lease{};
  // Keep changes by commands if the configuration is the same. True when a controller starts.
  bool keep_changes = false;
};
struct Reconfigure {
  ApplyConfig config;
  std::shared_ptr<const Policy> policy;  // in force from the next command on
};

using UserBody =
    std::variant<Submit, SubmitMany, Cancel, HoldJobs, ReleaseJobs, RequeueJobs, UpdateJob,
                 UpdateNode, UpdatePartition, Reconfigure, CreateReservation, UpdateReservation,
                 DeleteReservations, SuspendJobs, ResumeJobs, ChangeAccounting, ResetUsage,
                 CorrectUsage, RebootNodes, DeleteNodes>;
struct UserCommand {
  Principal who;
  std::string request_id;
  Digest digest{};
  UserBody body;
};

struct NodeCommand {  // a message of a node, from an authenticated session
  FromNode message;
  std::string address;
  // When another session registered under the same name was last heard; none without such a
  // session. Distinguishes a second machine with the name of a live node from a node that rebooted.
  std::optional<Time> rival_heard;
};
// Made by the lease monitor: nothing was received since `last_heard`, or since activation. The node
// is lost, or, if it was lost before, dead.
struct NodeSilent {
  NodeId node;
  Time last_heard{};
};
struct TakePlan {
  Plan plan;
};
struct Activate {
  Epoch epoch;
  std::string host;
};
struct Tick {};  // time has passed: checks begin times, back-off, retention

// Next occurrence of a recurring reservation; the caller computes it from the wall clock.
struct NextOccurrence {
  std::string reservation;
  Window when;
};

// A new usage period has begun by the wall clock. Earlier usage is reset.
struct UsagePeriod {
  Time began{};
};

using CommandBody = std::variant<UserCommand, NodeCommand, NodeSilent, TakePlan, ApplyConfig,
                                 Activate, Tick, NextOccurrence, UsagePeriod>;
struct Command {
  CommandBody body;
};

}  // namespace ares
