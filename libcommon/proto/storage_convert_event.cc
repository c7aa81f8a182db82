#include <type_traits>
#include <utility>
#include <variant>

#include "proto/storage_convert.h"
#include "proto/storage_events.h"

namespace ares::proto {
namespace {

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
  EVENT(Earmarked, earmarked)                      \
  EVENT(Suspended, suspended)                      \
  EVENT(Resumed, resumed)                          \
  EVENT(AccountingChanged, accounting_changed)     \
  EVENT(UsageCharged, usage_charged)               \
  EVENT(UsageSet, usage_set)                       \
  EVENT(AccrualBegan, accrual_began)

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
