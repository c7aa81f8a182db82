// Events of the journal to storage messages and back, one pair of overloads an event, in the order of the variant.
// Included by the storage_convert_event*.cc files only: it carries protobuf. Pure functions; any thread.
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

ControllerActivated get(const storage::ControllerActivated& from, Complaint& complaint);
ConfigApplied get(const storage::ConfigApplied& from, Complaint& complaint);
TresDefined get(const storage::TresDefined& from, Complaint& complaint);
Submitted get(const storage::Submitted& from, Complaint& complaint);
TaskSplit get(const storage::TaskSplit& from, Complaint& complaint);
Held get(const storage::Held& from, Complaint& complaint);
Released get(const storage::Released& from, Complaint& complaint);
Modified get(const storage::Modified& from, Complaint& complaint);
DependencyMet get(const storage::DependencyMet& from, Complaint& complaint);
DependencyFailed get(const storage::DependencyFailed& from, Complaint& complaint);
Allocated get(const storage::Allocated& from, Complaint& complaint);
NodeReady get(const storage::NodeReady& from, Complaint& complaint);
Started get(const storage::Started& from, Complaint& complaint);
NodeRunning get(const storage::NodeRunning& from, Complaint& complaint);
LaunchFailed get(const storage::LaunchFailed& from, Complaint& complaint);
EndingBegan get(const storage::EndingBegan& from, Complaint& complaint);
BatchFinished get(const storage::BatchFinished& from, Complaint& complaint);
NodeReleased get(const storage::NodeReleased& from, Complaint& complaint);
NodeFenced get(const storage::NodeFenced& from, Complaint& complaint);
ChargeCleared get(const storage::ChargeCleared& from, Complaint& complaint);
Ended get(const storage::Ended& from, Complaint& complaint);
Requeued get(const storage::Requeued& from, Complaint& complaint);
Signalled get(const storage::Signalled& from, Complaint& complaint);
Forgotten get(const storage::Forgotten& from, Complaint& complaint);
NodeRegistered get(const storage::NodeRegistered& from, Complaint& complaint);
NodeAdminSet get(const storage::NodeAdminSet& from, Complaint& complaint);
NodeLost get(const storage::NodeLost& from, Complaint& complaint);
LateResult get(const storage::LateResult& from, Complaint& complaint);
RequestRecorded get(const storage::RequestRecorded& from, Complaint& complaint);
RequestExpired get(const storage::RequestExpired& from, Complaint& complaint);
Audited get(const storage::Audited& from, Complaint& complaint);
PlanPass get(const storage::PlanPass& from, Complaint& complaint);
PartitionModified get(const storage::PartitionModified& from, Complaint& complaint);
ReservationSet get(const storage::ReservationSet& from, Complaint& complaint);
ReservationRemoved get(const storage::ReservationRemoved& from, Complaint& complaint);
AccountingChanged get(const storage::AccountingChanged& from, Complaint& complaint);
UsageCharged get(const storage::UsageCharged& from, Complaint& complaint);
UsageSet get(const storage::UsageSet& from, Complaint& complaint);
TimeNoticed get(const storage::TimeNoticed& from, Complaint& complaint);
AccrualBegan get(const storage::AccrualBegan& from, Complaint& complaint);
Earmarked get(const storage::Earmarked& from, Complaint& complaint);
Suspended get(const storage::Suspended& from, Complaint& complaint);
Resumed get(const storage::Resumed& from, Complaint& complaint);

}  // namespace ares::proto
