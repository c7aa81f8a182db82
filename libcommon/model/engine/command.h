// What is asked of the engine: by users, nodes, the scheduler and the clock. Closed; visited exhaustively.
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

// Which jobs a command acts on: `12`, `12_3`, or all of the caller's that match the filters.
struct JobSelector {
  std::vector<JobKey> keys;    // a key with a task that has not split off is meant as well
  std::vector<JobId> own_ids;  // "5" may be an array task's own number
  std::optional<UserId> user;  // filters: all given ones must match
  std::optional<JobState> state;
  std::string name, partition, account, qos, wckey, node;
  bool everything = false;  // no keys given: filters alone select
};

struct Submit {
  std::shared_ptr<const JobSpec> spec;
  std::vector<Blob> blobs;
};
// All accepted or none; none may depend on another of them. Equal specifications may be one.
struct SubmitMany {
  std::vector<std::shared_ptr<const JobSpec>> specs;
  std::vector<Blob> blobs;
};
struct Cancel {
  JobSelector jobs;
  std::int32_t signal = 0;  // 0 = end the job; else only send this
  bool batch_only = false;
  bool quiet_if_done = false;
};
struct HoldJobs {
  JobSelector jobs;
  bool as_user = false;  // an operator's hold that its owner may release
};
struct ReleaseJobs {
  JobSelector jobs;
};
struct RequeueJobs {
  JobSelector jobs;
  bool hold = false;
  bool incomplete = false;  // leave out what is COMPLETED or pending without a word
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
  std::optional<std::uint32_t> array_throttle{};  // of whole arrays; 0 = no bound
  std::vector<std::string> fields{};  // of the specification, by their names in api.proto's JobSpec
  std::shared_ptr<const JobSpec> values{};  // what those become
};
struct UpdateNode {
  std::vector<std::string> names;
  AdminState admin = AdminState::up;
  std::string reason;
  bool drained_only = false;  // `up` is refused for nodes that are down
  bool reason_only = false;   // of nodes out of service; `admin` says nothing then
};

struct UpdatePartition {
  std::vector<std::string> names;
  std::vector<std::string> fields;  // by their names in api.proto's Partition
  Partition values;                 // what those become
};
struct CreateReservation {
  Reservation values;
  std::uint32_t node_count = 0;  // where `nodes` is empty: so many, chosen among those free of jobs
  bool all_nodes = false;
  std::string partition;               // whose nodes are chosen from; empty = all
  std::optional<Duration> duration{};  // in place of an end
};
struct UpdateReservation {
  std::string name;
  std::vector<std::string> fields;  // by their names in api.proto's Reservation
  Reservation values;               // what those become
  bool all_nodes = false;
  std::optional<Duration> duration{};  // with the field "duration"
};
struct DeleteReservations {
  std::vector<std::string> names;
};
// What is to become of one record of accounting.
struct AccountingChange {
  enum class Verb : std::uint8_t { add, modify, remove };
  Verb verb = Verb::add;
  AccountingRecord
      record;  // as it is to be; of a removal its names count. Ids and `changed` do not
  Lsn seen;    // of a change or removal: `changed` of the record that it was decided on
};
// All of them or none, in any order: what they come to together must make sense.
struct ChangeAccounting {
  std::vector<AccountingChange> changes;
};
// What these used counts no more: associations, QOS, wckeys, and accounts with all below them. None named: what anybody used.
struct ResetUsage {
  std::vector<RecordKey> of;
};
// What the records of attempts say beside what was charged.
struct CorrectUsage {
  std::vector<UsageCorrection> corrections;
};
struct ApplyConfig {
  std::uint64_t hash = 0;
  std::vector<Partition> partitions;
  std::vector<std::pair<std::string, Inventory>> nodes;
  Seconds lease{};
  // Of the same configuration as before: what commands have changed since stays changed. True when a controller starts.
  bool keep_changes = false;
};
struct Reconfigure {
  ApplyConfig config;
  std::shared_ptr<const Policy> policy;  // in force from the next command on
};

using UserBody = std::variant<Submit, SubmitMany, Cancel, HoldJobs, ReleaseJobs, RequeueJobs,
                              UpdateJob, UpdateNode, UpdatePartition, Reconfigure,
                              CreateReservation, UpdateReservation, DeleteReservations, SuspendJobs,
                              ResumeJobs, ChangeAccounting, ResetUsage, CorrectUsage>;
struct UserCommand {
  Principal who;
  std::string request_id;
  Digest digest{};
  UserBody body;
};

struct NodeCommand {  // something a node said, on an authenticated session
  FromNode message;
  std::string address;
  // When another session that is registered under the same name was last heard; none if there is no such session. Tells a
  // machine that took the name of a living one from one that rebooted.
  std::optional<Time> rival_heard;
};
struct
    NodeSilent {  // nothing received from it since `last_heard` (or since activation): made by the lease monitor
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
struct Tick {};  // time has passed: begin times, back-off, retention

// The occurrence of a recurring reservation is over: when the next one is, by the clock on the wall, which the engine does not know.
struct NextOccurrence {
  std::string reservation;
  Window when;
};

// A period of usage has begun, by the clock on the wall: what was used before counts no more.
struct UsagePeriod {
  Time began{};
};

using CommandBody = std::variant<UserCommand, NodeCommand, NodeSilent, TakePlan, ApplyConfig,
                                 Activate, Tick, NextOccurrence, UsagePeriod>;
struct Command {
  CommandBody body;
};

}  // namespace ares
