// Converts events of the journal to storage messages and back: one pair of overloads for each
// event, in the order of the variant. Only for storage_convert_event*.cc: uses protobuf. Pure.
#pragma once

#include "model/engine/event.h"
#include "proto/storage_records.h"

namespace ares::proto {

void put(const ControllerActivated& from, storage::ControllerActivated& to);
void put(const ConfigApplied& from, storage::ConfigApplied& to);
void put(const TresDefined& from, storage::TresDefined& to);
void put(const Submitted& from, storage::Submitted& to);
void put(const TaskSplit& from, storage::TaskSplit& to);
void put(const Held& from, storage::Held& to);
void put(const Released& from, storage::Released& to);
void put(const Modified& from, storage::Modified& to);
void put(const DependencyMet& from, storage::DependencyMet& to);
void put(const DependencyFailed& from, storage::DependencyFailed& to);
void put(const Allocated& from, storage::Allocated& to);
void put(const NodeReady& from, storage::NodeReady& to);
void put(const Started& from, storage::Started& to);
void put(const NodeRunning& from, storage::NodeRunning& to);
void put(const LaunchFailed& from, storage::LaunchFailed& to);
void put(const EndingBegan& from, storage::EndingBegan& to);
void put(const BatchFinished& from, storage::BatchFinished& to);
void put(const NodeReleased& from, storage::NodeReleased& to);
void put(const NodeFenced& from, storage::NodeFenced& to);
void put(const ChargeCleared& from, storage::ChargeCleared& to);
void put(const Ended& from, storage::Ended& to);
void put(const Requeued& from, storage::Requeued& to);
void put(const Signalled& from, storage::Signalled& to);
void put(const Forgotten& from, storage::Forgotten& to);
void put(const NodeRegistered& from, storage::NodeRegistered& to);
void put(const NodeAdminSet& from, storage::NodeAdminSet& to);
void put(const NodeLost& from, storage::NodeLost& to);
void put(const NodeGuardSet& from, storage::NodeGuardSet& to);
void put(const NodeRebootSet& from, storage::NodeRebootSet& to);
void put(const NodeJoined& from, storage::NodeJoined& to);
void put(const NodeLeft& from, storage::NodeLeft& to);
void put(const LateResult& from, storage::LateResult& to);
void put(const RequestRecorded& from, storage::RequestRecorded& to);
void put(const RequestExpired& from, storage::RequestExpired& to);
void put(const Audited& from, storage::Audited& to);
void put(const PlanPass& from, storage::PlanPass& to);
void put(const PartitionModified& from, storage::PartitionModified& to);
void put(const ReservationSet& from, storage::ReservationSet& to);
void put(const ReservationRemoved& from, storage::ReservationRemoved& to);
void put(const AccountingChanged& from, storage::AccountingChanged& to);
void put(const UsageCharged& from, storage::UsageCharged& to);
void put(const UsageSet& from, storage::UsageSet& to);
void put(const TimeNoticed& from, storage::TimeNoticed& to);
void put(const AccrualBegan& from, storage::AccrualBegan& to);
void put(const Earmarked& from, storage::Earmarked& to);
void put(const Suspended& from, storage::Suspended& to);
void put(const Resumed& from, storage::Resumed& to);
void put(const ExpediteBegan& from, storage::ExpediteBegan& to);
void put(const ExpediteExpired& from, storage::ExpediteExpired& to);
void put(const StepsReported& from, storage::StepsReported& to);
void put(const CheckpointCommitted& from, storage::CheckpointCommitted& to);
void put(const CheckpointRestored& from, storage::CheckpointRestored& to);

ControllerActivated get(const storage::ControllerActivated& from, DecodeErrors& errors);
ConfigApplied get(const storage::ConfigApplied& from, DecodeErrors& errors);
TresDefined get(const storage::TresDefined& from, DecodeErrors& errors);
Submitted get(const storage::Submitted& from, DecodeErrors& errors);
TaskSplit get(const storage::TaskSplit& from, DecodeErrors& errors);
Held get(const storage::Held& from, DecodeErrors& errors);
Released get(const storage::Released& from, DecodeErrors& errors);
Modified get(const storage::Modified& from, DecodeErrors& errors);
DependencyMet get(const storage::DependencyMet& from, DecodeErrors& errors);
DependencyFailed get(const storage::DependencyFailed& from, DecodeErrors& errors);
Allocated get(const storage::Allocated& from, DecodeErrors& errors);
NodeReady get(const storage::NodeReady& from, DecodeErrors& errors);
Started get(const storage::Started& from, DecodeErrors& errors);
NodeRunning get(const storage::NodeRunning& from, DecodeErrors& errors);
LaunchFailed get(const storage::LaunchFailed& from, DecodeErrors& errors);
EndingBegan get(const storage::EndingBegan& from, DecodeErrors& errors);
BatchFinished get(const storage::BatchFinished& from, DecodeErrors& errors);
NodeReleased get(const storage::NodeReleased& from, DecodeErrors& errors);
NodeFenced get(const storage::NodeFenced& from, DecodeErrors& errors);
ChargeCleared get(const storage::ChargeCleared& from, DecodeErrors& errors);
Ended get(const storage::Ended& from, DecodeErrors& errors);
Requeued get(const storage::Requeued& from, DecodeErrors& errors);
Signalled get(const storage::Signalled& from, DecodeErrors& errors);
Forgotten get(const storage::Forgotten& from, DecodeErrors& errors);
NodeRegistered get(const storage::NodeRegistered& from, DecodeErrors& errors);
NodeAdminSet get(const storage::NodeAdminSet& from, DecodeErrors& errors);
NodeLost get(const storage::NodeLost& from, DecodeErrors& errors);
NodeGuardSet get(const storage::NodeGuardSet& from, DecodeErrors& errors);
NodeRebootSet get(const storage::NodeRebootSet& from, DecodeErrors& errors);
NodeJoined get(const storage::NodeJoined& from, DecodeErrors& errors);
NodeLeft get(const storage::NodeLeft& from, DecodeErrors& errors);
LateResult get(const storage::LateResult& from, DecodeErrors& errors);
RequestRecorded get(const storage::RequestRecorded& from, DecodeErrors& errors);
RequestExpired get(const storage::RequestExpired& from, DecodeErrors& errors);
Audited get(const storage::Audited& from, DecodeErrors& errors);
PlanPass get(const storage::PlanPass& from, DecodeErrors& errors);
PartitionModified get(const storage::PartitionModified& from, DecodeErrors& errors);
ReservationSet get(const storage::ReservationSet& from, DecodeErrors& errors);
ReservationRemoved get(const storage::ReservationRemoved& from, DecodeErrors& errors);
AccountingChanged get(const storage::AccountingChanged& from, DecodeErrors& errors);
UsageCharged get(const storage::UsageCharged& from, DecodeErrors& errors);
UsageSet get(const storage::UsageSet& from, DecodeErrors& errors);
TimeNoticed get(const storage::TimeNoticed& from, DecodeErrors& errors);
AccrualBegan get(const storage::AccrualBegan& from, DecodeErrors& errors);
Earmarked get(const storage::Earmarked& from, DecodeErrors& errors);
Suspended get(const storage::Suspended& from, DecodeErrors& errors);
Resumed get(const storage::Resumed& from, DecodeErrors& errors);
ExpediteBegan get(const storage::ExpediteBegan& from, DecodeErrors& errors);
ExpediteExpired get(const storage::ExpediteExpired& from, DecodeErrors& errors);
StepsReported get(const storage::StepsReported& from, DecodeErrors& errors);
CheckpointCommitted get(const storage::CheckpointCommitted& from, DecodeErrors& errors);
CheckpointRestored get(const storage::CheckpointRestored& from, DecodeErrors& errors);

}  // namespace ares::proto
