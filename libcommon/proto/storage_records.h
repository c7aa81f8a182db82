// Converts model records to storage messages and back, with one pair of overloads for each type.
// Uses protobuf: to be included only by storage_convert*.cc. Pure functions; any thread.
#pragma once

#include "model/accounts/usage.h"
#include "model/cluster/node.h"
#include "model/cluster/reservation.h"
#include "model/engine/request.h"
#include "model/job/job.h"
#include "proto/gen/storage.pb.h"
#include "proto/storage_fields.h"

namespace ares::proto {

void put(const JobKey& from, storage::JobKey& to);
void put(const AttemptKey& from, storage::AttemptKey& to);
void put(const IntervalSet& from, storage::IntervalSet& to);
void put(const GpuRequest& from, storage::GpuRequest& to);
void put(const GpuAlternative& from, storage::GpuAlternative& to);
void put(const LicenseRequest& from, storage::LicenseRequest& to);
void put(const TresAmount& from, storage::TresAmount& to);
void put(const Dependency& from, storage::Dependency& to);
void put(const ResourceLimit& from, storage::ResourceLimit& to);
void put(const Checkpoint& from, storage::Checkpoint& to);
void put(const Restored& from, storage::Restored& to);
void put(const GangRequest& from, storage::GangRequest& to);
void put(const JobBinding& from, storage::Binding& to);
void put(const CheckpointRequest& from, storage::CheckpointRequest& to);
void put(const ContainerRequest& from, storage::ContainerRequest& to);
void put(const JobSpec& from, storage::JobSpec& to);
void put(const ExitStatus& from, storage::ExitStatus& to);
void put(const Usage& from, storage::Usage& to);
void put(const NodeShare& from, storage::NodeShare& to);
void put(const ChargedTo& from, storage::ChargedTo& to);
void put(const Allocation& from, storage::Allocation& to);
void put(const Preempted& from, storage::Preempted& to);
void put(const Suspension& from, storage::Suspension& to);
void put(const PreemptionClaim& from, storage::Earmark& to);
void put(const ExpeditedReturn& from, storage::ExpeditedReturn& to);
void put(const Ending& from, storage::Ending& to);
void put(const ArrayState& from, storage::ArrayState& to);
void put(const Job& from, storage::Job& to);
void put(const Gpu& from, storage::Gpu& to);
void put(const Inventory& from, storage::Inventory& to);
void put(const Charge& from, storage::Charge& to);
void put(const NodeGuard& from, storage::NodeGuard& to);
void put(const NodeReboot& from, storage::NodeReboot& to);
void put(const Node& from, storage::Node& to);
void put(const Partition& from, storage::Partition& to);
void put(const Reservation& from, storage::Reservation& to);
void put(const AssociationUsage& from, storage::AssociationUsage& to);
void put(const Tres& from, storage::Tres& to);
void put(const RequestKey& from, storage::RequestKey& to);
void put(const Request& from, storage::Request& to);
void put(const AuditEntry& from, storage::AuditEntry& to);

JobKey get(const storage::JobKey& from, DecodeErrors& errors);
AttemptKey get(const storage::AttemptKey& from, DecodeErrors& errors);
IntervalSet get(const storage::IntervalSet& from, DecodeErrors& errors);
GpuRequest get(const storage::GpuRequest& from, DecodeErrors& errors);
GpuAlternative get(const storage::GpuAlternative& from, DecodeErrors& errors);
LicenseRequest get(const storage::LicenseRequest& from, DecodeErrors& errors);
TresAmount get(const storage::TresAmount& from, DecodeErrors& errors);
Dependency get(const storage::Dependency& from, DecodeErrors& errors);
ResourceLimit get(const storage::ResourceLimit& from, DecodeErrors& errors);
Checkpoint get(const storage::Checkpoint& from, DecodeErrors& errors);
Restored get(const storage::Restored& from, DecodeErrors& errors);
GangRequest get(const storage::GangRequest& from, DecodeErrors& errors);
JobBinding get(const storage::Binding& from, DecodeErrors& errors);
CheckpointRequest get(const storage::CheckpointRequest& from, DecodeErrors& errors);
ContainerRequest get(const storage::ContainerRequest& from, DecodeErrors& errors);
JobSpec get(const storage::JobSpec& from, DecodeErrors& errors);
ExitStatus get(const storage::ExitStatus& from, DecodeErrors& errors);
Usage get(const storage::Usage& from, DecodeErrors& errors);
NodeShare get(const storage::NodeShare& from, DecodeErrors& errors);
ChargedTo get(const storage::ChargedTo& from, DecodeErrors& errors);
Allocation get(const storage::Allocation& from, DecodeErrors& errors);
Preempted get(const storage::Preempted& from, DecodeErrors& errors);
Suspension get(const storage::Suspension& from, DecodeErrors& errors);
PreemptionClaim get(const storage::Earmark& from, DecodeErrors& errors);
ExpeditedReturn get(const storage::ExpeditedReturn& from, DecodeErrors& errors);
Ending get(const storage::Ending& from, DecodeErrors& errors);
ArrayState get(const storage::ArrayState& from, DecodeErrors& errors);
Job get(const storage::Job& from, DecodeErrors& errors);  // without its specification
Gpu get(const storage::Gpu& from, DecodeErrors& errors);
Inventory get(const storage::Inventory& from, DecodeErrors& errors);
Charge get(const storage::Charge& from, DecodeErrors& errors);
NodeGuard get(const storage::NodeGuard& from, DecodeErrors& errors);
NodeReboot get(const storage::NodeReboot& from, DecodeErrors& errors);
Node get(const storage::Node& from, DecodeErrors& errors);
Partition get(const storage::Partition& from, DecodeErrors& errors);
Reservation get(const storage::Reservation& from, DecodeErrors& errors);
AssociationUsage get(const storage::AssociationUsage& from, DecodeErrors& errors);
Tres get(const storage::Tres& from, DecodeErrors& errors);
RequestKey get(const storage::RequestKey& from, DecodeErrors& errors);
Request get(const storage::Request& from, DecodeErrors& errors);
AuditEntry get(const storage::AuditEntry& from, DecodeErrors& errors);

// Repeated messages, converted by the overloads of put() and get().
template <class From, class To>
void put_messages(const From& from, To* to) {
  to->Reserve(static_cast<int>(from.size()));
  for (const auto& value : from) put(value, *to->Add());
}
template <class T, class From, class... Context>
std::vector<T> get_messages(const From& from, Context&... context) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(from.size()));
  for (const auto& value : from) values.push_back(get(value, context...));
  return values;
}

}  // namespace ares::proto
