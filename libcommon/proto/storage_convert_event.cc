#include <type_traits>
#include <utility>
#include <variant>

#include "proto/storage_convert.h"
#include "proto/storage_records.h"

namespace ares::proto {
namespace {

// One pair of overloads an event, in the order of the variant.

void put(const ControllerActivated& from, storage::ControllerActivated& to) {
  to.set_epoch(from.epoch.value());
  to.set_host(from.host);
  to.set_next_job_id(from.next_job_id.value());
}
ControllerActivated get(const storage::ControllerActivated& from, Complaint&) {
  return {Epoch(from.epoch()), from.host(), JobId(from.next_job_id())};
}

void put(const ConfigApplied& from, storage::ConfigApplied& to) {
  to.set_hash(from.hash);
  for (const auto& partition : from.partitions) proto::put(partition, *to.add_partitions());
  for (const auto& node : from.nodes) {
    auto& out = *to.add_nodes();
    out.set_id(node.id.value());
    out.set_name(node.name);
    proto::put(node.inventory, *out.mutable_inventory());
  }
  to.set_lease(from.lease.count());
}
ConfigApplied get(const storage::ConfigApplied& from, Complaint& complaint) {
  ConfigApplied to;
  to.hash = from.hash();
  for (const auto& partition : from.partitions())
    to.partitions.push_back(proto::get(partition, complaint));
  for (const auto& node : from.nodes())
    to.nodes.push_back({NodeId(node.id()), node.name(), proto::get(node.inventory(), complaint)});
  to.lease = Seconds(from.lease());
  return to;
}

void put(const TresDefined& from, storage::TresDefined& to) {
  proto::put(from.tres, *to.mutable_tres());
}
TresDefined get(const storage::TresDefined& from, Complaint& complaint) {
  return {proto::get(from.tres(), complaint)};
}

void put(const Submitted& from, storage::Submitted& to) {
  proto::put(from.key, *to.mutable_key());
  to.set_id_count(from.id_count);
  if (from.spec) proto::put(*from.spec, *to.mutable_spec());
  to.set_priority(from.priority);
  to.set_hold(number(from.hold));
  for (const auto& dependency : from.waiting_for) proto::put(dependency, *to.add_waiting_for());
}
Submitted get(const storage::Submitted& from, Complaint& complaint) {
  Submitted to;
  to.key = proto::get(from.key(), complaint);
  to.id_count = from.id_count();
  if (!from.has_spec())
    complaint.raise("a submission without a specification");
  else
    to.spec = std::make_shared<const JobSpec>(proto::get(from.spec(), complaint));
  to.priority = from.priority();
  to.hold = complaint.check(from.hold(), Hold::admin, "hold");
  for (const auto& dependency : from.waiting_for())
    to.waiting_for.push_back(proto::get(dependency, complaint));
  return to;
}

void put(const TaskSplit& from, storage::TaskSplit& to) {
  proto::put(from.key, *to.mutable_key());
  to.set_rank(from.rank);
}
TaskSplit get(const storage::TaskSplit& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint), from.rank()};
}

void put(const Held& from, storage::Held& to) {
  proto::put(from.key, *to.mutable_key());
  to.set_hold(number(from.hold));
  to.set_reason(number(from.reason));
}
Held get(const storage::Held& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint), complaint.check(from.hold(), Hold::admin, "hold"),
          complaint.check(from.reason(), kLastReason, "reason")};
}

void put(const Released& from, storage::Released& to) {
  proto::put(from.key, *to.mutable_key());
}
Released get(const storage::Released& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint)};
}

void put(const Modified& from, storage::Modified& to) {
  proto::put(from.key, *to.mutable_key());
  if (from.priority) to.set_priority(*from.priority);
  to.set_time_limit_given(from.set_time_limit);
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  if (from.spec) proto::put(*from.spec, *to.mutable_spec());
  to.set_waiting_for_given(from.waiting_for.has_value());
  if (from.waiting_for)
    for (const auto& dependency : *from.waiting_for) proto::put(dependency, *to.add_waiting_for());
  if (from.array_throttle) to.set_array_throttle(*from.array_throttle);
  if (from.was_named) to.set_was_named(*from.was_named);
  if (from.gang_lost) to.set_gang_lost(*from.gang_lost);
}
Modified get(const storage::Modified& from, Complaint& complaint) {
  Modified to;
  to.key = proto::get(from.key(), complaint);
  if (from.has_priority()) to.priority = from.priority();
  to.set_time_limit = from.time_limit_given();
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  if (from.has_spec())
    to.spec = std::make_shared<const JobSpec>(proto::get(from.spec(), complaint));
  if (from.waiting_for_given()) {
    to.waiting_for.emplace();
    for (const auto& dependency : from.waiting_for())
      to.waiting_for->push_back(proto::get(dependency, complaint));
  }
  if (from.has_array_throttle()) to.array_throttle = from.array_throttle();
  if (from.has_was_named()) to.was_named = from.was_named();
  if (from.has_gang_lost()) to.gang_lost = from.gang_lost();
  return to;
}

void put(const DependencyMet& from, storage::DependencyMet& to) {
  proto::put(from.key, *to.mutable_key());
  proto::put(from.dependency, *to.mutable_dependency());
  to.set_not_before(micros(from.not_before));
}
DependencyMet get(const storage::DependencyMet& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint), proto::get(from.dependency(), complaint),
          to_time(from.not_before())};
}

void put(const DependencyFailed& from, storage::DependencyFailed& to) {
  proto::put(from.key, *to.mutable_key());
  proto::put(from.dependency, *to.mutable_dependency());
}
DependencyFailed get(const storage::DependencyFailed& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint), proto::get(from.dependency(), complaint)};
}

void put(const Allocated& from, storage::Allocated& to) {
  proto::put(from.key, *to.mutable_key());
  to.set_attempt(from.attempt.value());
  to.set_partition(from.partition);
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  for (const auto& share : from.nodes) proto::put(share, *to.add_nodes());
  put_messages(from.licenses, to.mutable_licenses());
  to.set_alternative(from.alternative);
}
Allocated get(const storage::Allocated& from, Complaint& complaint) {
  Allocated to;
  to.key = proto::get(from.key(), complaint);
  to.attempt = AttemptNo(from.attempt());
  to.partition = from.partition();
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  for (const auto& share : from.nodes()) to.nodes.push_back(proto::get(share, complaint));
  to.licenses = get_messages<LicenseRequest>(from.licenses(), complaint);
  to.alternative = from.alternative();
  return to;
}

void put(const NodeReady& from, storage::NodeReady& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
NodeReady get(const storage::NodeReady& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), NodeId(from.node())};
}

void put(const Started& from, storage::Started& to) {
  proto::put(from.attempt, *to.mutable_attempt());
}
Started get(const storage::Started& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint)};
}

void put(const NodeRunning& from, storage::NodeRunning& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
NodeRunning get(const storage::NodeRunning& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), NodeId(from.node())};
}

void put(const LaunchFailed& from, storage::LaunchFailed& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
  to.set_node_fault(from.node_fault);
  to.set_cause(from.cause);
}
LaunchFailed get(const storage::LaunchFailed& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), NodeId(from.node()), from.node_fault(),
          from.cause()};
}

void put(const EndingBegan& from, storage::EndingBegan& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  proto::put(from.ending, *to.mutable_ending());
}
EndingBegan get(const storage::EndingBegan& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), proto::get(from.ending(), complaint)};
}

void put(const BatchFinished& from, storage::BatchFinished& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  proto::put(from.exit, *to.mutable_exit());
  to.set_at(micros(from.at));
  proto::put(from.ending, *to.mutable_ending());
  to.set_cause(from.cause);
}
BatchFinished get(const storage::BatchFinished& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), proto::get(from.exit(), complaint),
          to_time(from.at()), proto::get(from.ending(), complaint), from.cause()};
}

void put(const NodeReleased& from, storage::NodeReleased& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
  proto::put(from.usage, *to.mutable_usage());
}
NodeReleased get(const storage::NodeReleased& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), NodeId(from.node()),
          proto::get(from.usage(), complaint)};
}

void put(const NodeFenced& from, storage::NodeFenced& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
NodeFenced get(const storage::NodeFenced& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), NodeId(from.node())};
}

void put(const ChargeCleared& from, storage::ChargeCleared& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
ChargeCleared get(const storage::ChargeCleared& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), NodeId(from.node())};
}

void put(const Ended& from, storage::Ended& to) {
  proto::put(from.key, *to.mutable_key());
  to.set_state(number(from.state));
  to.set_reason(number(from.reason));
  if (from.by) to.set_by(from.by->value());
}
Ended get(const storage::Ended& from, Complaint& complaint) {
  Ended to;
  to.key = proto::get(from.key(), complaint);
  to.state = complaint.check(from.state(), JobState::deadline, "job state");
  to.reason = complaint.check(from.reason(), kLastReason, "reason");
  if (from.has_by()) to.by = UserId(from.by());
  return to;
}

void put(const Requeued& from, storage::Requeued& to) {
  proto::put(from.key, *to.mutable_key());
  to.set_node_fault(from.node_fault);
  to.set_hold(number(from.hold));
  to.set_not_before(micros(from.not_before));
}
Requeued get(const storage::Requeued& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint), from.node_fault(),
          complaint.check(from.hold(), Hold::admin, "hold"), to_time(from.not_before())};
}

void put(const Signalled& from, storage::Signalled& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_signal(from.signal);
  to.set_batch_only(from.batch_only);
}
Signalled get(const storage::Signalled& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), from.signal(), from.batch_only()};
}

void put(const Forgotten& from, storage::Forgotten& to) {
  proto::put(from.key, *to.mutable_key());
}
Forgotten get(const storage::Forgotten& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint)};
}

void put(const NodeRegistered& from, storage::NodeRegistered& to) {
  to.set_id(from.id.value());
  to.set_name(from.name);
  to.set_incarnation_tag(from.incarnation_tag);
  to.set_incarnation(from.incarnation);
  proto::put(from.inventory, *to.mutable_inventory());
  to.set_can_freeze(from.can_freeze);
  to.set_version(from.version);
  to.set_address(from.address);
}
NodeRegistered get(const storage::NodeRegistered& from, Complaint& complaint) {
  NodeRegistered to;
  to.id = NodeId(from.id());
  to.name = from.name();
  to.incarnation_tag = from.incarnation_tag();
  to.incarnation = from.incarnation();
  to.inventory = proto::get(from.inventory(), complaint);
  to.can_freeze = from.can_freeze();
  to.version = from.version();
  to.address = from.address();
  return to;
}

void put(const NodeAdminSet& from, storage::NodeAdminSet& to) {
  to.set_id(from.id.value());
  to.set_admin(number(from.admin));
  to.set_reason(from.reason);
  if (from.by) to.set_by(from.by->value());
}
NodeAdminSet get(const storage::NodeAdminSet& from, Complaint& complaint) {
  NodeAdminSet to;
  to.id = NodeId(from.id());
  to.admin = complaint.check(from.admin(), AdminState::down, "administrative state");
  to.reason = from.reason();
  if (from.has_by()) to.by = UserId(from.by());
  return to;
}

void put(const NodeLost& from, storage::NodeLost& to) {
  to.set_id(from.id.value());
}
NodeLost get(const storage::NodeLost& from, Complaint&) {
  return {NodeId(from.id())};
}

void put(const LateResult& from, storage::LateResult& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_fence(from.fence.value());
  to.set_node(from.node.value());
  to.set_detail(from.detail);
}
LateResult get(const storage::LateResult& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), Fence(from.fence()), NodeId(from.node()),
          from.detail()};
}

void put(const RequestRecorded& from, storage::RequestRecorded& to) {
  proto::put(from.request, *to.mutable_request());
}
RequestRecorded get(const storage::RequestRecorded& from, Complaint& complaint) {
  return {proto::get(from.request(), complaint)};
}

void put(const RequestExpired& from, storage::RequestExpired& to) {
  proto::put(from.key, *to.mutable_key());
}
RequestExpired get(const storage::RequestExpired& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint)};
}

void put(const Audited& from, storage::Audited& to) {
  proto::put(from.entry, *to.mutable_entry());
}
Audited get(const storage::Audited& from, Complaint& complaint) {
  return {proto::get(from.entry(), complaint)};
}

void put(const PlanPass& from, storage::PlanPass& to) {
  to.set_seen(from.seen.value());
  to.set_budget(from.budget);
  to.set_config_hash(from.config_hash);
}
PlanPass get(const storage::PlanPass& from, Complaint&) {
  return {Lsn(from.seen()), from.budget(), from.config_hash()};
}

void put(const PartitionModified& from, storage::PartitionModified& to) {
  proto::put(from.partition, *to.mutable_partition());
}
PartitionModified get(const storage::PartitionModified& from, Complaint& complaint) {
  return {proto::get(from.partition(), complaint)};
}

void put(const ReservationSet& from, storage::ReservationSet& to) {
  proto::put(from.reservation, *to.mutable_reservation());
}
ReservationSet get(const storage::ReservationSet& from, Complaint& complaint) {
  return {proto::get(from.reservation(), complaint)};
}

void put(const ReservationRemoved& from, storage::ReservationRemoved& to) {
  to.set_name(from.name);
}
ReservationRemoved get(const storage::ReservationRemoved& from, Complaint&) {
  return {from.name()};
}

void put(const TimeNoticed& from, storage::TimeNoticed& to) {
  proto::put(from.attempt, *to.mutable_attempt());
  to.set_percent(from.percent);
}
TimeNoticed get(const storage::TimeNoticed& from, Complaint& complaint) {
  return {proto::get(from.attempt(), complaint), from.percent()};
}

void put(const Earmarked& from, storage::Earmarked& to) {
  proto::put(from.key, *to.mutable_key());
  proto::put(from.earmark, *to.mutable_earmark());
}
Earmarked get(const storage::Earmarked& from, Complaint& complaint) {
  return {proto::get(from.key(), complaint), proto::get(from.earmark(), complaint)};
}

// The table of events: one row each. Everything that depends on which event it is goes through it.
// EVENT(type of the model, field of storage::EventBody)
#define ARES_STORAGE_EVENTS(EVENT)                 \
  EVENT(ControllerActivated, controller_activated) \
  EVENT(ConfigApplied, config_applied)             \
  EVENT(TresDefined, tres_defined)                 \
  EVENT(Submitted, submitted)                      \
  EVENT(TaskSplit, task_split)                     \
  EVENT(Held, held)                                \
  EVENT(Released, released)                        \
  EVENT(Modified, modified)                        \
  EVENT(DependencyMet, dependency_met)             \
  EVENT(DependencyFailed, dependency_failed)       \
  EVENT(Allocated, allocated)                      \
  EVENT(NodeReady, node_ready)                     \
  EVENT(Started, started)                          \
  EVENT(NodeRunning, node_running)                 \
  EVENT(LaunchFailed, launch_failed)               \
  EVENT(EndingBegan, ending_began)                 \
  EVENT(BatchFinished, batch_finished)             \
  EVENT(NodeReleased, node_released)               \
  EVENT(NodeFenced, node_fenced)                   \
  EVENT(ChargeCleared, charge_cleared)             \
  EVENT(Ended, ended)                              \
  EVENT(Requeued, requeued)                        \
  EVENT(Signalled, signalled)                      \
  EVENT(Forgotten, forgotten)                      \
  EVENT(NodeRegistered, node_registered)           \
  EVENT(NodeAdminSet, node_admin_set)              \
  EVENT(NodeLost, node_lost)                       \
  EVENT(LateResult, late_result)                   \
  EVENT(RequestRecorded, request_recorded)         \
  EVENT(RequestExpired, request_expired)           \
  EVENT(Audited, audited)                          \
  EVENT(PlanPass, plan_pass)                       \
  EVENT(PartitionModified, partition_modified)     \
  EVENT(TimeNoticed, time_noticed)                 \
  EVENT(ReservationSet, reservation_set)           \
  EVENT(ReservationRemoved, reservation_removed)   \
  EVENT(Earmarked, earmarked)

struct Encoder {
  storage::EventBody& to;
#define ARES_ENCODE(Type, field)            \
  void operator()(const Type& from) const { \
    put(from, *to.mutable_##field());       \
  }
  ARES_STORAGE_EVENTS(ARES_ENCODE)
#undef ARES_ENCODE
};

struct KindOf {
#define ARES_KIND(Type, field)                     \
  std::string_view operator()(const Type&) const { \
    return #Type;                                  \
  }
  ARES_STORAGE_EVENTS(ARES_KIND)
#undef ARES_KIND
};

EventBody decode_body(const storage::EventBody& from, Complaint& complaint) {
  switch (from.body_case()) {
#define ARES_DECODE(Type, field) \
  case storage::EventBody::k##Type: return get(from.field(), complaint);
    ARES_STORAGE_EVENTS(ARES_DECODE)
#undef ARES_DECODE
    case storage::EventBody::BODY_NOT_SET: break;
  }
  complaint.raise("an event of a kind that this release does not know");
  return PlanPass{};
}

}  // namespace

std::string_view event_kind(const EventBody& body) {
  return std::visit(KindOf{}, body);
}

std::string encode_event(const EventBody& body) {
  storage::EventBody message;
  std::visit(Encoder{message}, body);
  return message.SerializeAsString();
}

Result<EventBody> decode_event(std::uint32_t version, std::string_view bytes) {
  if (version == 0 || version > kStorageVersion)
    return fail(ErrorCode::data_loss, "an event in format " + std::to_string(version) +
                                          ", but this release reads up to " +
                                          std::to_string(kStorageVersion) +
                                          ": start the release that wrote it");
  storage::EventBody message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(ErrorCode::data_loss, "a damaged event: its bytes cannot be parsed");
  Complaint complaint;
  EventBody body = decode_body(message, complaint);
  if (!complaint.empty())
    return fail(ErrorCode::data_loss, "an event that cannot be read: " + complaint.text() +
                                          "; it is damaged, or a newer release wrote it");
  return body;
}

}  // namespace ares::proto
