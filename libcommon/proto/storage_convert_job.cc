#include "proto/storage_records.h"

namespace ares::proto {

void put(const JobKey& from, storage::JobKey& to) {
  to.set_job(from.job.value());
  if (!from.task.is_none()) to.set_task(from.task.value);
}

JobKey get(const storage::JobKey& from, DecodeErrors&) {
  JobKey to;
  to.job = JobId(from.job());
  if (from.has_task()) to.task = TaskIndex{from.task()};
  return to;
}

void put(const AttemptKey& from, storage::AttemptKey& to) {
  put(from.job, *to.mutable_job());
  to.set_attempt(from.attempt.value());
}

AttemptKey get(const storage::AttemptKey& from, DecodeErrors& errors) {
  return AttemptKey{get(from.job(), errors), AttemptNo(from.attempt())};
}

void put(const IntervalSet& from, storage::IntervalSet& to) {
  for (const auto& interval : from.intervals()) {
    auto& out = *to.add_intervals();
    out.set_first(interval.first);
    out.set_last(interval.last);
  }
}

IntervalSet get(const storage::IntervalSet& from, DecodeErrors& errors) {
  IntervalSet to;
  for (const auto& interval : from.intervals()) {
    if (interval.first() > interval.last())
      errors.add("an interval ends before it begins");
    else
      to.insert(interval.first(), interval.last());
  }
  return to;
}

void put(const TresAmount& from, storage::TresAmount& to) {
  to.set_tres(from.tres);
  to.set_amount(from.amount);
}

TresAmount get(const storage::TresAmount& from, DecodeErrors&) {
  return TresAmount{from.tres(), from.amount()};
}

void put(const ExitStatus& from, storage::ExitStatus& to) {
  to.set_code(from.code);
  to.set_signal(from.signal);
  to.set_out_of_memory(from.out_of_memory);
  to.set_timed_out(from.timed_out);
}

ExitStatus get(const storage::ExitStatus& from, DecodeErrors&) {
  return ExitStatus{from.code(), from.signal(), from.out_of_memory(), from.timed_out()};
}

void put(const Usage& from, storage::Usage& to) {
  to.set_user_cpu(from.user_cpu.count());
  to.set_system_cpu(from.system_cpu.count());
  to.set_max_rss(from.max_rss.value());
  to.set_disk_read(from.disk_read.value());
  to.set_disk_written(from.disk_written.value());
}

Usage get(const storage::Usage& from, DecodeErrors&) {
  return Usage{Duration(from.user_cpu()), Duration(from.system_cpu()), Bytes(from.max_rss()),
               Bytes(from.disk_read()), Bytes(from.disk_written())};
}

void put(const NodeShare& from, storage::NodeShare& to) {
  to.set_node(from.node.value());
  to.set_cpus(from.cpus);
  put_list(from.cpu_ids, to.mutable_cpu_ids());
  to.set_memory(from.memory.value());
  put_ids(from.gpus, to.mutable_gpus());
  to.set_tasks(from.tasks);
  to.set_incarnation(from.incarnation);
  to.set_phase(number(from.phase));
  put(from.usage, *to.mutable_usage());
  to.set_leased(from.leased);
  to.set_gpu_part(from.gpu_part);
  to.set_cpu_thousandths(from.cpu_thousandths);
}

NodeShare get(const storage::NodeShare& from, DecodeErrors& errors) {
  NodeShare to;
  to.node = NodeId(from.node());
  to.cpus = from.cpus();
  to.cpu_ids = get_list<std::uint32_t>(from.cpu_ids());
  to.memory = Bytes(from.memory());
  to.gpus = get_ids<GpuIndex>(from.gpus());
  to.tasks = from.tasks();
  to.incarnation = from.incarnation();
  to.phase = errors.check(from.phase(), SharePhase::fenced, "phase of a node's share");
  to.usage = get(from.usage(), errors);
  to.leased =
      from.leased();  // absent in records of releases that did not store it: then no lease is assumed
  to.gpu_part = from.gpu_part();
  to.cpu_thousandths = from.cpu_thousandths();
  return to;
}

void put(const ChargedTo& from, storage::ChargedTo& to) {
  to.set_association(from.association.value());
  to.set_qos(from.qos.value());
  to.set_wckey(from.wckey.value());
  to.set_billing(from.billing);
  to.set_still_billing(from.still_billing);
  to.set_factor(from.factor);
  to.set_partition_qos(from.partition_qos.value());
  to.set_account(from.account.value());
}

ChargedTo get(const storage::ChargedTo& from, DecodeErrors&) {
  return {AssociationId(from.association()),
          AssociationId(from.qos()),
          AssociationId(from.wckey()),
          from.billing(),
          from.still_billing(),
          from.factor(),
          AssociationId(from.partition_qos()),
          AssociationId(from.account())};
}

void put(const Allocation& from, storage::Allocation& to) {
  to.set_fence(from.fence.value());
  to.set_partition(from.partition);
  to.set_at(micros(from.at));
  put_messages(from.nodes, to.mutable_nodes());
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  put_messages(from.licenses, to.mutable_licenses());
  to.set_limit_set(from.limit_set.value());
  to.set_alternative(from.alternative);
  if (from.suspension) put(*from.suspension, *to.mutable_suspension());
  to.set_suspended(from.suspended.count());
  to.set_suspend_set(from.suspend_set.value());
  to.set_cpus_lent(from.cpus_released);
  put_messages(from.tres, to.mutable_tres());
  put(from.charged_to, *to.mutable_charged_to());
  to.set_master_port(from.master_port);
  to.set_priority(from.priority);
}

Allocation get(const storage::Allocation& from, DecodeErrors& errors) {
  Allocation to;
  to.fence = Fence(from.fence());
  to.partition = from.partition();
  to.at = to_time(from.at());
  to.nodes = NodeShares(get_messages<NodeShare>(from.nodes(), errors));
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  to.licenses = get_messages<LicenseRequest>(from.licenses(), errors);
  to.limit_set = Lsn(from.limit_set());
  to.alternative = from.alternative();
  if (from.has_suspension()) to.suspension = get(from.suspension(), errors);
  to.suspended = Duration(from.suspended());
  to.suspend_set = Lsn(from.suspend_set());
  to.cpus_released = from.cpus_lent();
  to.tres = get_messages<TresAmount>(from.tres(), errors);
  to.charged_to = get(from.charged_to(), errors);
  to.master_port = static_cast<std::uint16_t>(from.master_port());
  to.priority = from.priority();
  return to;
}

void put(const Ending& from, storage::Ending& to) {
  to.set_state(number(from.state));
  to.set_reason(number(from.reason));
  if (from.by) to.set_by(from.by->value());
  to.set_requeue(from.requeue);
  to.set_hold(number(from.hold));
  to.set_node_fault(from.node_fault);
  if (from.preempted) put(*from.preempted, *to.mutable_preempted());
  if (from.failed_node) to.set_failed_node(from.failed_node->value());
}

Ending get(const storage::Ending& from, DecodeErrors& errors) {
  Ending to;
  to.state = errors.check(from.state(), JobState::deadline, "job state");
  to.reason = errors.check(from.reason(), kLastReason, "reason");
  if (from.has_by()) to.by = UserId(from.by());
  to.requeue = from.requeue();
  to.hold = errors.check(from.hold(), Hold::special_exit, "hold");
  to.node_fault = from.node_fault();
  if (from.has_preempted()) to.preempted = get(from.preempted(), errors);
  if (from.has_failed_node()) to.failed_node = NodeId(from.failed_node());
  return to;
}

void put(const ArrayState& from, storage::ArrayState& to) {
  put(from.waiting, *to.mutable_waiting());
  to.set_throttle(from.throttle);
  to.set_active(from.active);
  to.set_holding(from.holding);
  to.set_completed(from.completed);
  to.set_unsuccessful(from.unsuccessful);
}

ArrayState get(const storage::ArrayState& from, DecodeErrors& errors) {
  ArrayState to;
  to.waiting = get(from.waiting(), errors);
  to.throttle = from.throttle();
  to.active = from.active();
  to.holding = from.holding();
  to.completed = from.completed();
  to.unsuccessful = from.unsuccessful();
  return to;
}

void put(const Job& from, storage::Job& to) {
  put(from.key, *to.mutable_key());
  to.set_own_id(from.own_id.value());
  to.set_state(number(from.state));
  to.set_reason(number(from.reason));
  to.set_hold(number(from.hold));
  to.set_priority(from.priority);
  to.set_priority_set(from.priority_set);
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  put_messages(from.waiting_for, to.mutable_waiting_for());
  to.set_dependency_failed(from.dependency_failed);
  if (from.array_rank) to.set_array_rank(*from.array_rank);
  to.set_submitted(micros(from.submitted));
  to.set_eligible(micros(from.eligible));
  if (from.started) to.set_started(micros(*from.started));
  if (from.ended) to.set_ended(micros(*from.ended));
  to.set_attempt(from.attempt.value());
  to.set_restarts(from.restarts);
  to.set_launch_failures(from.launch_failures);
  to.set_not_before(micros(from.not_before));
  put_ids(from.excluded, to.mutable_excluded());
  if (from.allocation) put(*from.allocation, *to.mutable_allocation());
  if (from.ending) put(*from.ending, *to.mutable_ending());
  put(from.exit, *to.mutable_exit());
  if (from.array) put(*from.array, *to.mutable_array());
  to.set_version(from.version.value());
  to.set_cause(from.cause);
  to.set_time_noticed(from.time_noticed);
  if (from.preemption_claim) put(*from.preemption_claim, *to.mutable_earmark());
  if (from.preempted) put(*from.preempted, *to.mutable_preempted());
  to.set_gang(from.gang.value());
  to.set_gang_lost(from.gang_lost);
  if (from.accrues) to.set_accrues(micros(*from.accrues));
  if (from.expedited) put(*from.expedited, *to.mutable_expedited());
  to.set_expedited_returns(from.expedited_returns);
  put_messages(from.checkpoints, to.mutable_checkpoints());
  if (from.restored) put(*from.restored, *to.mutable_restored());
}

Job get(const storage::Job& from, DecodeErrors& errors) {
  Job to;
  to.key = get(from.key(), errors);
  to.own_id = JobId(from.own_id());
  to.state = errors.check(from.state(), JobState::deadline, "job state");
  to.reason = errors.check(from.reason(), kLastReason, "reason");
  to.hold = errors.check(from.hold(), Hold::special_exit, "hold");
  to.priority = from.priority();
  to.priority_set = from.priority_set();
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  to.waiting_for = get_messages<Dependency>(from.waiting_for(), errors);
  to.dependency_failed = from.dependency_failed();
  if (from.has_array_rank()) to.array_rank = from.array_rank();
  to.submitted = to_time(from.submitted());
  to.eligible = to_time(from.eligible());
  if (from.has_started()) to.started = to_time(from.started());
  if (from.has_ended()) to.ended = to_time(from.ended());
  to.attempt = AttemptNo(from.attempt());
  to.restarts = from.restarts();
  to.launch_failures = from.launch_failures();
  to.not_before = to_time(from.not_before());
  to.excluded = get_ids<NodeId>(from.excluded());
  if (from.has_allocation()) to.allocation = get(from.allocation(), errors);
  if (from.has_ending()) to.ending = get(from.ending(), errors);
  to.exit = get(from.exit(), errors);
  if (from.has_array()) to.array = get(from.array(), errors);
  to.version = Lsn(from.version());
  to.cause = from.cause();
  to.time_noticed = from.time_noticed();
  if (from.has_earmark()) to.preemption_claim = get(from.earmark(), errors);
  if (from.has_preempted()) to.preempted = get(from.preempted(), errors);
  to.gang = JobId(from.gang());
  to.gang_lost = from.gang_lost();
  if (from.has_accrues()) to.accrues = to_time(from.accrues());
  if (from.has_expedited()) to.expedited = get(from.expedited(), errors);
  to.expedited_returns = from.expedited_returns();
  to.checkpoints = get_messages<Checkpoint>(from.checkpoints(), errors);
  if (from.has_restored()) to.restored = get(from.restored(), errors);
  return to;
}

}  // namespace ares::proto
