// Events of the controller, nodes, partitions and reservations, and of recorded requests.
#include "proto/accounts_convert.h"
#include "proto/storage_events.h"

namespace ares::proto {

void put(const ControllerActivated& from, storage::ControllerActivated& to) {
  to.set_epoch(from.epoch.value());
  to.set_host(from.host);
  to.set_next_job_id(from.next_job_id.value());
}
ControllerActivated get(const storage::ControllerActivated& from, DecodeErrors&) {
  return {Epoch(from.epoch()), from.host(), JobId(from.next_job_id())};
}

void put(const ConfigApplied& from, storage::ConfigApplied& to) {
  to.set_hash(from.hash);
  for (const auto& partition : from.partitions) put(partition, *to.add_partitions());
  for (const auto& node : from.nodes) {
    auto& out = *to.add_nodes();
    out.set_id(node.id.value());
    out.set_name(node.name);
    put(node.inventory, *out.mutable_inventory());
  }
  to.set_lease(from.lease.count());
}
ConfigApplied get(const storage::ConfigApplied& from, DecodeErrors& errors) {
  ConfigApplied to;
  to.hash = from.hash();
  for (const auto& partition : from.partitions()) to.partitions.push_back(get(partition, errors));
  for (const auto& node : from.nodes())
    to.nodes.push_back({NodeId(node.id()), node.name(), get(node.inventory(), errors)});
  to.lease = Seconds(from.lease());
  return to;
}

void put(const TresDefined& from, storage::TresDefined& to) {
  put(from.tres, *to.mutable_tres());
}
TresDefined get(const storage::TresDefined& from, DecodeErrors& errors) {
  return {get(from.tres(), errors)};
}

void put(const NodeRegistered& from, storage::NodeRegistered& to) {
  to.set_id(from.id.value());
  to.set_name(from.name);
  to.set_incarnation_tag(from.incarnation_tag);
  to.set_incarnation(from.incarnation);
  put(from.inventory, *to.mutable_inventory());
  to.set_can_freeze(from.can_freeze);
  to.set_version(from.version);
  to.set_address(from.address);
  to.set_enforced(from.enforced);
  if (from.reported) put(*from.reported, *to.mutable_reported());
}
NodeRegistered get(const storage::NodeRegistered& from, DecodeErrors& errors) {
  NodeRegistered to;
  to.id = NodeId(from.id());
  to.name = from.name();
  to.incarnation_tag = from.incarnation_tag();
  to.incarnation = from.incarnation();
  to.inventory = get(from.inventory(), errors);
  to.can_freeze = from.can_freeze();
  to.version = from.version();
  to.address = from.address();
  to.enforced = from.enforced();
  if (from.has_reported()) to.reported = get(from.reported(), errors);
  return to;
}

void put(const NodeAdminSet& from, storage::NodeAdminSet& to) {
  to.set_id(from.id.value());
  to.set_admin(number(from.admin));
  to.set_reason(from.reason);
  if (from.by) to.set_by(from.by->value());
}
NodeAdminSet get(const storage::NodeAdminSet& from, DecodeErrors& errors) {
  NodeAdminSet to;
  to.id = NodeId(from.id());
  to.admin = errors.check(from.admin(), kLastAdminState, "administrative state");
  to.reason = from.reason();
  if (from.has_by()) to.by = UserId(from.by());
  return to;
}

void put(const NodeLost& from, storage::NodeLost& to) {
  to.set_id(from.id.value());
  to.set_since(micros(from.since));
  to.set_machine_gone(from.machine_gone);
}
NodeLost get(const storage::NodeLost& from, DecodeErrors&) {
  return {NodeId(from.id()), to_time(from.since()), from.machine_gone()};
}

void put(const NodeGuardSet& from, storage::NodeGuardSet& to) {
  to.set_id(from.id.value());
  put(from.guard, *to.mutable_guard());
}
NodeGuardSet get(const storage::NodeGuardSet& from, DecodeErrors& errors) {
  return {NodeId(from.id()), get(from.guard(), errors)};
}

void put(const NodeRebootSet& from, storage::NodeRebootSet& to) {
  to.set_id(from.id.value());
  if (from.reboot) put(*from.reboot, *to.mutable_reboot());
}
NodeRebootSet get(const storage::NodeRebootSet& from, DecodeErrors& errors) {
  NodeRebootSet to{NodeId(from.id()), {}};
  if (from.has_reboot()) to.reboot = get(from.reboot(), errors);
  return to;
}

void put(const NodeJoined& from, storage::NodeJoined& to) {
  to.set_id(from.id.value());
  to.set_name(from.name);
  put_list(from.partitions, to.mutable_partitions());
}
NodeJoined get(const storage::NodeJoined& from, DecodeErrors&) {
  return {NodeId(from.id()), from.name(), get_list<std::string>(from.partitions())};
}

void put(const NodeLeft& from, storage::NodeLeft& to) {
  to.set_id(from.id.value());
  put_list(from.partitions, to.mutable_partitions());
}
NodeLeft get(const storage::NodeLeft& from, DecodeErrors&) {
  return {NodeId(from.id()), get_list<std::string>(from.partitions())};
}

void put(const LateResult& from, storage::LateResult& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_fence(from.fence.value());
  to.set_node(from.node.value());
  to.set_detail(from.detail);
}
LateResult get(const storage::LateResult& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), Fence(from.fence()), NodeId(from.node()), from.detail()};
}

void put(const RequestRecorded& from, storage::RequestRecorded& to) {
  put(from.request, *to.mutable_request());
}
RequestRecorded get(const storage::RequestRecorded& from, DecodeErrors& errors) {
  return {get(from.request(), errors)};
}

void put(const RequestExpired& from, storage::RequestExpired& to) {
  put(from.key, *to.mutable_key());
}
RequestExpired get(const storage::RequestExpired& from, DecodeErrors& errors) {
  return {get(from.key(), errors)};
}

void put(const Audited& from, storage::Audited& to) {
  put(from.entry, *to.mutable_entry());
}
Audited get(const storage::Audited& from, DecodeErrors& errors) {
  return {get(from.entry(), errors)};
}

void put(const PlanPass& from, storage::PlanPass& to) {
  to.set_seen(from.seen.value());
  to.set_budget(from.budget);
  to.set_config_hash(from.config_hash);
}
PlanPass get(const storage::PlanPass& from, DecodeErrors&) {
  return {Lsn(from.seen()), from.budget(), from.config_hash()};
}

void put(const PartitionModified& from, storage::PartitionModified& to) {
  put(from.partition, *to.mutable_partition());
}
PartitionModified get(const storage::PartitionModified& from, DecodeErrors& errors) {
  return {get(from.partition(), errors)};
}

void put(const ReservationSet& from, storage::ReservationSet& to) {
  put(from.reservation, *to.mutable_reservation());
  for (const NodeReplacement& one : from.replaced) {
    storage::NodeReplacement& out = *to.add_replaced();
    out.set_gone(one.gone.value());
    out.set_substitute(one.substitute.value());
  }
}
ReservationSet get(const storage::ReservationSet& from, DecodeErrors& errors) {
  ReservationSet to{get(from.reservation(), errors)};
  for (const storage::NodeReplacement& one : from.replaced())
    to.replaced.push_back({NodeId(one.gone()), NodeId(one.substitute())});
  return to;
}

void put(const ReservationRemoved& from, storage::ReservationRemoved& to) {
  to.set_name(from.name);
}
void put(const UsageCharged& from, storage::UsageCharged& to) {
  put(from.attempt, *to.mutable_attempt());
  put(from.usage, *to.mutable_usage());
  if (from.of_qos) put(*from.of_qos, *to.mutable_of_qos());
  if (from.of_wckey) put(*from.of_wckey, *to.mutable_of_wckey());
  if (from.of_partition_qos) put(*from.of_partition_qos, *to.mutable_of_partition_qos());
}
UsageCharged get(const storage::UsageCharged& from, DecodeErrors& errors) {
  UsageCharged to{get(from.attempt(), errors), get(from.usage(), errors), {}, {}};
  if (from.has_of_qos()) to.of_qos = get(from.of_qos(), errors);
  if (from.has_of_wckey()) to.of_wckey = get(from.of_wckey(), errors);
  if (from.has_of_partition_qos()) to.of_partition_qos = get(from.of_partition_qos(), errors);
  return to;
}

void put(const UsageSet& from, storage::UsageSet& to) {
  for (const AssociationUsage& usage : from.set) put(usage, *to.add_set());
  for (const AssociationId id : from.gone) to.add_gone(id.value());
  to.set_since(micros(from.since));
}
UsageSet get(const storage::UsageSet& from, DecodeErrors& errors) {
  UsageSet to;
  for (const auto& usage : from.set()) to.set.push_back(get(usage, errors));
  for (const auto id : from.gone()) to.gone.emplace_back(id);
  to.since = to_time(from.since());
  return to;
}

void put(const AccountingChanged& from, storage::AccountingChanged& to) {
  for (const AccountingRecord& record : from.set) put(record, *to.add_set());
  for (const RecordKey& key : from.removed) put(key, *to.add_removed());
  to.set_next_record_id(from.next_record_id);
}
AccountingChanged get(const storage::AccountingChanged& from, DecodeErrors& errors) {
  AccountingChanged to;
  for (const accounts::Record& record : from.set()) to.set.push_back(get(record, errors));
  for (const accounts::RecordKey& key : from.removed()) to.removed.push_back(get(key, errors));
  to.next_record_id = from.next_record_id();
  return to;
}

ReservationRemoved get(const storage::ReservationRemoved& from, DecodeErrors&) {
  return {from.name()};
}

}  // namespace ares::proto
