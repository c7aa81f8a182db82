#include <type_traits>
#include <utility>
#include <variant>

#include "proto/storage_convert.h"
#include "proto/storage_events.h"

namespace ares::proto {
namespace {

// The table of events: one row each. All code that depends on the kind of event uses this table.
// EVENT(type of the model, field of storage::EventBody, its case, name in the journal)
// The field's name and number and the name in the journal are stored: they stay when a type is renamed.
#define ARES_STORAGE_EVENTS(EVENT)                                                              \
  EVENT(ControllerActivated, controller_activated, kControllerActivated, "ControllerActivated") \
  EVENT(ConfigApplied, config_applied, kConfigApplied, "ConfigApplied")                         \
  EVENT(TresDefined, tres_defined, kTresDefined, "TresDefined")                                 \
  EVENT(Submitted, submitted, kSubmitted, "Submitted")                                          \
  EVENT(TaskSplit, task_split, kTaskSplit, "TaskSplit")                                         \
  EVENT(Held, held, kHeld, "Held")                                                              \
  EVENT(Released, released, kReleased, "Released")                                              \
  EVENT(Modified, modified, kModified, "Modified")                                              \
  EVENT(DependencyMet, dependency_met, kDependencyMet, "DependencyMet")                         \
  EVENT(DependencyFailed, dependency_failed, kDependencyFailed, "DependencyFailed")             \
  EVENT(Allocated, allocated, kAllocated, "Allocated")                                          \
  EVENT(NodeReady, node_ready, kNodeReady, "NodeReady")                                         \
  EVENT(Started, started, kStarted, "Started")                                                  \
  EVENT(NodeRunning, node_running, kNodeRunning, "NodeRunning")                                 \
  EVENT(LaunchFailed, launch_failed, kLaunchFailed, "LaunchFailed")                             \
  EVENT(EndingBegan, ending_began, kEndingBegan, "EndingBegan")                                 \
  EVENT(BatchFinished, batch_finished, kBatchFinished, "BatchFinished")                         \
  EVENT(NodeReleased, node_released, kNodeReleased, "NodeReleased")                             \
  EVENT(NodeFenced, node_fenced, kNodeFenced, "NodeFenced")                                     \
  EVENT(ChargeCleared, charge_cleared, kChargeCleared, "ChargeCleared")                         \
  EVENT(Ended, ended, kEnded, "Ended")                                                          \
  EVENT(Requeued, requeued, kRequeued, "Requeued")                                              \
  EVENT(Signalled, signalled, kSignalled, "Signalled")                                          \
  EVENT(Forgotten, forgotten, kForgotten, "Forgotten")                                          \
  EVENT(NodeRegistered, node_registered, kNodeRegistered, "NodeRegistered")                     \
  EVENT(NodeAdminSet, node_admin_set, kNodeAdminSet, "NodeAdminSet")                            \
  EVENT(NodeLost, node_lost, kNodeLost, "NodeLost")                                             \
  EVENT(LateResult, late_result, kLateResult, "LateResult")                                     \
  EVENT(RequestRecorded, request_recorded, kRequestRecorded, "RequestRecorded")                 \
  EVENT(RequestExpired, request_expired, kRequestExpired, "RequestExpired")                     \
  EVENT(Audited, audited, kAudited, "Audited")                                                  \
  EVENT(PlanPass, plan_pass, kPlanPass, "PlanPass")                                             \
  EVENT(PartitionModified, partition_modified, kPartitionModified, "PartitionModified")         \
  EVENT(TimeNoticed, time_noticed, kTimeNoticed, "TimeNoticed")                                 \
  EVENT(ReservationSet, reservation_set, kReservationSet, "ReservationSet")                     \
  EVENT(ReservationRemoved, reservation_removed, kReservationRemoved, "ReservationRemoved")     \
  EVENT(Earmarked, earmarked, kEarmarked, "Earmarked")                                          \
  EVENT(Suspended, suspended, kSuspended, "Suspended")                                          \
  EVENT(Resumed, resumed, kResumed, "Resumed")                                                  \
  EVENT(AccountingChanged, accounting_changed, kAccountingChanged, "AccountingChanged")         \
  EVENT(UsageCharged, usage_charged, kUsageCharged, "UsageCharged")                             \
  EVENT(UsageSet, usage_set, kUsageSet, "UsageSet")                                             \
  EVENT(AccrualBegan, accrual_began, kAccrualBegan, "AccrualBegan")                             \
  EVENT(NodeGuardSet, node_guard_set, kNodeGuardSet, "NodeGuardSet")                            \
  EVENT(NodeRebootSet, node_reboot_set, kNodeRebootSet, "NodeRebootSet")                        \
  EVENT(NodeJoined, node_joined, kNodeJoined, "NodeJoined")                                     \
  EVENT(NodeLeft, node_left, kNodeLeft, "NodeLeft")                                             \
  EVENT(ExpediteBegan, expedite_began, kExpediteBegan, "ExpediteBegan")                         \
  EVENT(ExpediteExpired, expedite_expired, kExpediteExpired, "ExpediteExpired")                 \
  EVENT(StepsReported, steps_reported, kStepsReported, "StepsReported")                         \
  EVENT(CheckpointCommitted, checkpoint_committed, kCheckpointCommitted, "CheckpointCommitted") \
  EVENT(CheckpointRestored, checkpoint_restored, kCheckpointRestored, "CheckpointRestored")

struct Encoder {
  storage::EventBody& to;
#define ARES_ENCODE(Type, field, kCase, name) \
  void operator()(const Type& from) const {   \
    put(from, *to.mutable_##field());         \
  }
  ARES_STORAGE_EVENTS(ARES_ENCODE)
#undef ARES_ENCODE
};

struct KindOf {
#define ARES_KIND(Type, field, kCase, name)        \
  std::string_view operator()(const Type&) const { \
    return name;                                   \
  }
  ARES_STORAGE_EVENTS(ARES_KIND)
#undef ARES_KIND
};

EventBody decode_body(const storage::EventBody& from, DecodeErrors& errors) {
  switch (from.body_case()) {
#define ARES_DECODE(Type, field, kCase, name) \
  case storage::EventBody::kCase: return get(from.field(), errors);
    ARES_STORAGE_EVENTS(ARES_DECODE)
#undef ARES_DECODE
    case storage::EventBody::BODY_NOT_SET: break;
  }
  errors.add("an event of a kind that this release does not know");
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
  DecodeErrors errors;
  EventBody body = decode_body(message, errors);
  if (!errors.empty())
    return fail(ErrorCode::data_loss, "an event that cannot be read: " + errors.text() +
                                          "; it is damaged, or a newer release wrote it");
  return body;
}

}  // namespace ares::proto
