#include "proto/storage_records.h"

namespace ares::proto {

void put(const Gpu& from, storage::Gpu& to) {
  to.set_index(from.index.value());
  to.set_type(from.type);
  put_list(from.cores, to.mutable_cores());
  to.set_memory(from.memory.value());
}

Gpu get(const storage::Gpu& from, DecodeErrors&) {
  Gpu to;
  to.index = GpuIndex(static_cast<GpuIndex::rep>(from.index()));
  to.type = from.type();
  to.cores = get_list<std::uint32_t>(from.cores());
  to.memory = Bytes(from.memory());
  return to;
}

void put(const Inventory& from, storage::Inventory& to) {
  to.set_cpus(from.cpus);
  to.set_memory(from.memory.value());
  put_messages(from.gpus, to.mutable_gpus());
  put_list(from.features, to.mutable_features());
  to.set_gpu_topology(std::string(from.gpu_topology.text()));
  to.set_cpu_layout(std::string(from.cpu_layout.text()));
  to.set_restricted_cores_per_gpu(from.restricted_cores_per_gpu);
  if (from.max_attempts) to.set_max_attempts(*from.max_attempts);
  if (from.tmp_disk) to.set_tmp_disk(from.tmp_disk->value());
  to.set_cpu_thousandths(from.cpu_thousandths);
}

Inventory get(const storage::Inventory& from, DecodeErrors& errors) {
  Inventory to;
  to.cpus = from.cpus();
  to.memory = Bytes(from.memory());
  to.gpus = get_messages<Gpu>(from.gpus(), errors);
  to.features = get_list<std::string>(from.features());
  to.gpu_topology = GpuTopology(from.gpu_topology());
  to.cpu_layout = SharedText(from.cpu_layout());
  to.restricted_cores_per_gpu = from.restricted_cores_per_gpu();
  if (from.has_max_attempts()) to.max_attempts = from.max_attempts();
  if (from.has_tmp_disk()) to.tmp_disk = Bytes(from.tmp_disk());
  to.cpu_thousandths = from.cpu_thousandths();
  return to;
}

void put(const Charge& from, storage::Charge& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_fence(from.fence.value());
  to.set_cpus(from.cpus);
  to.set_memory(from.memory.value());
  put_ids(from.gpus, to.mutable_gpus());
  put_list(from.cpu_ids, to.mutable_cpu_ids());
  if (from.user) to.set_user(from.user->value());
  to.set_exclusive_user(from.exclusive_user);
  to.set_gpu_part(from.gpu_part);
  to.set_master_port(from.master_port);
  to.set_tmp_disk(from.tmp_disk.value());
  to.set_cpu_thousandths(from.cpu_thousandths);
}

Charge get(const storage::Charge& from, DecodeErrors& errors) {
  Charge to;
  to.attempt = get(from.attempt(), errors);
  to.fence = Fence(from.fence());
  to.cpus = from.cpus();
  to.memory = Bytes(from.memory());
  to.gpus = get_ids<GpuIndex>(from.gpus());
  to.cpu_ids = get_list<std::uint32_t>(from.cpu_ids());
  if (from.has_user()) to.user = UserId(from.user());
  to.exclusive_user = from.exclusive_user();
  to.gpu_part = from.gpu_part();
  to.master_port = static_cast<std::uint16_t>(from.master_port());
  to.tmp_disk = Bytes(from.tmp_disk());
  to.cpu_thousandths = from.cpu_thousandths();
  return to;
}

void put(const NodeGuard& from, storage::NodeGuard& to) {
  for (const Time failure : from.failures) to.add_failures(micros(failure));
  to.set_reason(from.reason);
  to.set_rounds(from.rounds);
  if (from.retry_at) to.set_retry_at(micros(*from.retry_at));
  to.set_on_trial(from.on_trial);
  to.set_fault(from.fault);
  to.set_problem(from.problem);
}

NodeGuard get(const storage::NodeGuard& from, DecodeErrors&) {
  NodeGuard to;
  for (const auto failure : from.failures()) to.failures.push_back(to_time(failure));
  to.reason = from.reason();
  to.rounds = from.rounds();
  if (from.has_retry_at()) to.retry_at = to_time(from.retry_at());
  to.on_trial = from.on_trial();
  to.fault = from.fault();
  to.problem = from.problem();
  return to;
}

void put(const NodeReboot& from, storage::NodeReboot& to) {
  to.set_requested_at(micros(from.requested_at));
  if (from.by) to.set_by(from.by->value());
  to.set_reason(from.reason);
  to.set_asap(from.asap);
  to.set_after(number(from.after));
  if (from.issued_at) to.set_issued_at(micros(*from.issued_at));
  to.set_incarnation(from.incarnation);
}

NodeReboot get(const storage::NodeReboot& from, DecodeErrors& errors) {
  NodeReboot to;
  to.requested_at = to_time(from.requested_at());
  if (from.has_by()) to.by = UserId(from.by());
  to.reason = from.reason();
  to.asap = from.asap();
  to.after = errors.check(from.after(), kLastAfterReboot, "state after a reboot");
  if (from.has_issued_at()) to.issued_at = to_time(from.issued_at());
  to.incarnation = from.incarnation();
  return to;
}

void put(const Node& from, storage::Node& to) {
  to.set_id(from.id.value());
  to.set_name(from.name);
  put(from.configured, *to.mutable_configured());
  put(from.inventory, *to.mutable_inventory());
  to.set_incarnation(from.incarnation);
  to.set_incarnation_tag(from.incarnation_tag);
  to.set_can_freeze(from.can_freeze);
  to.set_admin(number(from.admin));
  to.set_contact(number(from.contact));
  to.set_reason(from.reason);
  if (from.reason_by) to.set_reason_by(from.reason_by->value());
  if (from.reason_at) to.set_reason_at(micros(*from.reason_at));
  if (from.registered_at) to.set_registered_at(micros(*from.registered_at));
  to.set_address(from.address);
  to.set_version_text(from.version_text);
  to.set_enforced(from.enforced);
  put_messages(from.charges, to.mutable_charges());
  to.set_version(from.version.value());
  to.set_leaving(from.leaving);
  if (from.silent_since) to.set_silent_since(micros(*from.silent_since));
  to.set_machine_gone(from.machine_gone);
  if (from.guard != NodeGuard{}) put(from.guard, *to.mutable_guard());
  if (from.reboot) put(*from.reboot, *to.mutable_reboot());
  put_list(from.joined, to.mutable_joined());
  if (from.reported) put(*from.reported, *to.mutable_reported());
}

Node get(const storage::Node& from, DecodeErrors& errors) {
  Node to;
  to.id = NodeId(from.id());
  to.name = from.name();
  to.configured = get(from.configured(), errors);
  to.inventory = get(from.inventory(), errors);
  to.incarnation = from.incarnation();
  to.incarnation_tag = from.incarnation_tag();
  to.can_freeze = from.can_freeze();
  to.admin = errors.check(from.admin(), kLastAdminState, "administrative state");
  to.contact = errors.check(from.contact(), Contact::lost, "contact state");
  to.reason = from.reason();
  if (from.has_reason_by()) to.reason_by = UserId(from.reason_by());
  if (from.has_reason_at()) to.reason_at = to_time(from.reason_at());
  if (from.has_registered_at()) to.registered_at = to_time(from.registered_at());
  to.address = from.address();
  to.version_text = from.version_text();
  to.enforced = from.enforced();
  to.charges = get_messages<Charge>(from.charges(), errors);
  to.version = Lsn(from.version());
  to.leaving = from.leaving();
  if (from.has_silent_since()) to.silent_since = to_time(from.silent_since());
  to.machine_gone = from.machine_gone();
  if (from.has_guard()) to.guard = get(from.guard(), errors);
  if (from.has_reboot()) to.reboot = get(from.reboot(), errors);
  to.joined = get_list<std::string>(from.joined());
  if (from.has_reported()) to.reported = get(from.reported(), errors);
  return to;
}

void put(const Partition& from, storage::Partition& to) {
  to.set_name(from.name);
  put_list(from.nodes, to.mutable_nodes());
  to.set_is_default(from.is_default);
  to.set_up(from.up);
  to.set_tier(from.tier);
  to.set_priority(from.priority);
  if (from.max_time) to.set_max_time(from.max_time->count());
  if (from.default_time) to.set_default_time(from.default_time->count());
  if (from.max_nodes) to.set_max_nodes(*from.max_nodes);
  to.set_min_nodes(from.min_nodes);
  to.set_default_memory_per_cpu(from.default_memory_per_cpu.value());
  to.set_exclusive(from.exclusive);
  put_list(from.allow_groups, to.mutable_allow_groups());
  to.set_closed(!from.open);
  to.set_cpu_placement(number(from.placement.cpu));
  to.set_gpu_placement(number(from.placement.gpu));
  to.set_topology(from.topology);
  to.set_preempt_mode(number(from.preempt_mode));
  to.set_qos(from.qos);
  to.set_container_image(from.container_image);
  if (from.max_cpus_per_node) to.set_max_cpus_per_node(*from.max_cpus_per_node);
  to.set_own_billing(from.billing_weights.has_value());
  if (from.billing_weights)
    for (const auto& [tres, weight] : *from.billing_weights) {
      auto* added = to.add_billing_weights();
      added->set_tres(tres);
      added->set_amount(weight);
    }
}

Partition get(const storage::Partition& from, DecodeErrors& errors) {
  Partition to;
  to.name = from.name();
  to.nodes = get_list<std::string>(from.nodes());
  to.is_default = from.is_default();
  to.up = from.up();
  to.tier = from.tier();
  to.priority = from.priority();
  if (from.has_max_time()) to.max_time = Seconds(from.max_time());
  if (from.has_default_time()) to.default_time = Seconds(from.default_time());
  if (from.has_max_nodes()) to.max_nodes = from.max_nodes();
  to.min_nodes = from.min_nodes();
  to.default_memory_per_cpu = Bytes(from.default_memory_per_cpu());
  to.exclusive = from.exclusive();
  to.allow_groups = get_list<std::string>(from.allow_groups());
  to.open = !from.closed();
  to.placement.cpu =
      errors.check(from.cpu_placement(), kLastPlacementStrategy, "placement strategy");
  to.placement.gpu =
      errors.check(from.gpu_placement(), kLastPlacementStrategy, "placement strategy");
  to.topology = from.topology();
  to.preempt_mode =
      errors.check(from.preempt_mode(), kLastPreemptMode, "preemption mode of a partition");
  to.qos = from.qos();
  to.container_image = from.container_image();
  if (from.has_max_cpus_per_node()) to.max_cpus_per_node = from.max_cpus_per_node();
  if (from.own_billing()) {
    to.billing_weights.emplace();
    for (const storage::TresAmount& one : from.billing_weights())
      to.billing_weights->emplace(one.tres(), one.amount());
  }
  return to;
}

void put(const Reservation& from, storage::Reservation& to) {
  to.set_name(from.name);
  to.set_start(micros(from.start));
  to.set_end(micros(from.end));
  to.set_recurrence(number(from.recurrence));
  put_list(from.nodes, to.mutable_nodes());
  put_ids(from.users, to.mutable_users());
  put_list(from.accounts, to.mutable_accounts());
  to.set_maintenance(from.maintenance);
  to.set_flexible(from.flexible);
  to.set_ignore_jobs(from.ignore_jobs);
  to.set_overlap(from.overlap);
  to.set_comment(from.comment);
  to.set_replace_down(from.replace_down);
}

Reservation get(const storage::Reservation& from, DecodeErrors& errors) {
  Reservation to;
  to.name = from.name();
  to.start = to_time(from.start());
  to.end = to_time(from.end());
  to.recurrence = errors.check(from.recurrence(), kLastRecurrence, "recurrence");
  to.nodes = get_list<std::string>(from.nodes());
  to.users = get_ids<UserId>(from.users());
  to.accounts = get_list<std::string>(from.accounts());
  to.maintenance = from.maintenance();
  to.flexible = from.flexible();
  to.ignore_jobs = from.ignore_jobs();
  to.overlap = from.overlap();
  to.comment = from.comment();
  to.replace_down = from.replace_down();
  return to;
}

void put(const AssociationUsage& from, storage::AssociationUsage& to) {
  to.set_id(from.id.value());
  to.set_settled_at(micros(from.settled_at));
  to.set_recent_at(micros(from.recent_at));
  to.set_since(micros(from.since));
  for (const UsageRow& row : from.rows) {
    storage::AssociationUsage::Row& out = *to.add_rows();
    out.set_tres(row.tres);
    out.set_settled_high(row.settled.high);
    out.set_settled_low(row.settled.low);
    out.set_recent_high(row.recent.high);
    out.set_recent_low(row.recent.low);
  }
}

AssociationUsage get(const storage::AssociationUsage& from, DecodeErrors&) {
  AssociationUsage to;
  to.id = AssociationId(from.id());
  to.settled_at = to_time(from.settled_at());
  to.recent_at = to_time(from.recent_at());
  to.since = to_time(from.since());
  for (const auto& row : from.rows())
    to.rows.push_back({row.tres(),
                       {row.settled_high(), row.settled_low()},
                       {row.recent_high(), row.recent_low()}});
  return to;
}

void put(const Tres& from, storage::Tres& to) {
  to.set_id(from.id.value());
  to.set_name(from.name);
}

Tres get(const storage::Tres& from, DecodeErrors&) {
  return Tres{TresId(from.id()), from.name()};
}

void put(const RequestKey& from, storage::RequestKey& to) {
  to.set_uid(from.uid.value());
  to.set_id(from.id);
}

RequestKey get(const storage::RequestKey& from, DecodeErrors&) {
  return RequestKey{UserId(from.uid()), from.id()};
}

void put(const Request& from, storage::Request& to) {
  put(from.key, *to.mutable_key());
  to.set_digest(to_bytes(from.digest));
  to.set_at(micros(from.at));
  to.set_expires(micros(from.expires));
  to.set_error_code(number(from.error.code));
  to.set_error_message(from.error.message);
  to.set_failed(from.failed);
  put_messages(from.jobs, to.mutable_jobs());
  to.set_text(from.text);
}

Request get(const storage::Request& from, DecodeErrors& errors) {
  Request to;
  to.key = get(from.key(), errors);
  to.digest = to_digest<32>(from.digest(), "a request's digest", errors);
  to.at = to_time(from.at());
  to.expires = to_time(from.expires());
  to.error.code = errors.check(from.error_code(), ErrorCode::internal, "error code");
  to.error.message = from.error_message();
  to.failed = from.failed();
  to.jobs = get_messages<JobKey>(from.jobs(), errors);
  to.text = from.text();
  return to;
}

void put(const AuditEntry& from, storage::AuditEntry& to) {
  to.set_at(micros(from.at));
  to.set_uid(from.uid.value());
  to.set_user(from.user);
  to.set_host(from.host);
  to.set_action(from.action);
  to.set_subject(from.subject);
  to.set_outcome(from.outcome);
}

AuditEntry get(const storage::AuditEntry& from, DecodeErrors&) {
  AuditEntry to;
  to.at = to_time(from.at());
  to.uid = UserId(from.uid());
  to.user = from.user();
  to.host = from.host();
  to.action = from.action();
  to.subject = from.subject();
  to.outcome = from.outcome();
  return to;
}

}  // namespace ares::proto
