// Events of jobs and their attempts.
#include "proto/storage_events.h"

namespace ares::proto {

void put(const Submitted& from, storage::Submitted& to) {
  put(from.key, *to.mutable_key());
  to.set_id_count(from.id_count);
  if (from.spec) put(*from.spec, *to.mutable_spec());
  to.set_priority(from.priority);
  to.set_hold(number(from.hold));
  for (const auto& dependency : from.waiting_for) put(dependency, *to.add_waiting_for());
}
Submitted get(const storage::Submitted& from, DecodeErrors& errors) {
  Submitted to;
  to.key = get(from.key(), errors);
  to.id_count = from.id_count();
  if (!from.has_spec())
    errors.add("a submission without a specification");
  else
    to.spec = std::make_shared<const JobSpec>(get(from.spec(), errors));
  to.priority = from.priority();
  to.hold = errors.check(from.hold(), Hold::special_exit, "hold");
  for (const auto& dependency : from.waiting_for())
    to.waiting_for.push_back(get(dependency, errors));
  return to;
}

void put(const TaskSplit& from, storage::TaskSplit& to) {
  put(from.key, *to.mutable_key());
  to.set_rank(from.rank);
}
TaskSplit get(const storage::TaskSplit& from, DecodeErrors& errors) {
  return {get(from.key(), errors), from.rank()};
}

void put(const Held& from, storage::Held& to) {
  put(from.key, *to.mutable_key());
  to.set_hold(number(from.hold));
  to.set_reason(number(from.reason));
}
Held get(const storage::Held& from, DecodeErrors& errors) {
  return {get(from.key(), errors), errors.check(from.hold(), Hold::special_exit, "hold"),
          errors.check(from.reason(), kLastReason, "reason")};
}

void put(const Released& from, storage::Released& to) {
  put(from.key, *to.mutable_key());
}
Released get(const storage::Released& from, DecodeErrors& errors) {
  return {get(from.key(), errors)};
}

void put(const Modified& from, storage::Modified& to) {
  put(from.key, *to.mutable_key());
  if (from.priority) to.set_priority(*from.priority);
  to.set_time_limit_given(from.set_time_limit);
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  if (from.spec) put(*from.spec, *to.mutable_spec());
  to.set_waiting_for_given(from.waiting_for.has_value());
  if (from.waiting_for)
    for (const auto& dependency : *from.waiting_for) put(dependency, *to.add_waiting_for());
  if (from.array_throttle) to.set_array_throttle(*from.array_throttle);
  if (from.was_named) to.set_was_named(*from.was_named);
  if (from.gang_lost) to.set_gang_lost(*from.gang_lost);
}
Modified get(const storage::Modified& from, DecodeErrors& errors) {
  Modified to;
  to.key = get(from.key(), errors);
  if (from.has_priority()) to.priority = from.priority();
  to.set_time_limit = from.time_limit_given();
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  if (from.has_spec()) to.spec = std::make_shared<const JobSpec>(get(from.spec(), errors));
  if (from.waiting_for_given()) {
    to.waiting_for.emplace();
    for (const auto& dependency : from.waiting_for())
      to.waiting_for->push_back(get(dependency, errors));
  }
  if (from.has_array_throttle()) to.array_throttle = from.array_throttle();
  if (from.has_was_named()) to.was_named = from.was_named();
  if (from.has_gang_lost()) to.gang_lost = from.gang_lost();
  return to;
}

void put(const DependencyMet& from, storage::DependencyMet& to) {
  put(from.key, *to.mutable_key());
  put(from.dependency, *to.mutable_dependency());
  to.set_not_before(micros(from.not_before));
}
DependencyMet get(const storage::DependencyMet& from, DecodeErrors& errors) {
  return {get(from.key(), errors), get(from.dependency(), errors), to_time(from.not_before())};
}

void put(const DependencyFailed& from, storage::DependencyFailed& to) {
  put(from.key, *to.mutable_key());
  put(from.dependency, *to.mutable_dependency());
}
DependencyFailed get(const storage::DependencyFailed& from, DecodeErrors& errors) {
  return {get(from.key(), errors), get(from.dependency(), errors)};
}

void put(const Allocated& from, storage::Allocated& to) {
  put(from.key, *to.mutable_key());
  to.set_attempt(from.attempt.value());
  to.set_partition(from.partition);
  if (from.time_limit) to.set_time_limit(from.time_limit->count());
  for (const auto& share : from.nodes) put(share, *to.add_nodes());
  put_messages(from.licenses, to.mutable_licenses());
  to.set_alternative(from.alternative);
  put_messages(from.tres, to.mutable_tres());
  put(from.charged_to, *to.mutable_charged_to());
  to.set_master_port(from.master_port);
  to.set_priority(from.priority);
}
Allocated get(const storage::Allocated& from, DecodeErrors& errors) {
  Allocated to;
  to.key = get(from.key(), errors);
  to.attempt = AttemptNo(from.attempt());
  to.partition = from.partition();
  if (from.has_time_limit()) to.time_limit = Seconds(from.time_limit());
  to.nodes = NodeShares(get_messages<NodeShare>(from.nodes(), errors));
  to.licenses = get_messages<LicenseRequest>(from.licenses(), errors);
  to.alternative = from.alternative();
  to.tres = get_messages<TresAmount>(from.tres(), errors);
  to.charged_to = get(from.charged_to(), errors);
  to.master_port = static_cast<std::uint16_t>(from.master_port());
  to.priority = from.priority();
  return to;
}

void put(const NodeReady& from, storage::NodeReady& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
NodeReady get(const storage::NodeReady& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), NodeId(from.node())};
}

void put(const Started& from, storage::Started& to) {
  put(from.attempt, *to.mutable_attempt());
}
Started get(const storage::Started& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors)};
}

void put(const NodeRunning& from, storage::NodeRunning& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
NodeRunning get(const storage::NodeRunning& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), NodeId(from.node())};
}

void put(const LaunchFailed& from, storage::LaunchFailed& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
  to.set_node_fault(from.node_fault);
  to.set_blame(number(from.blame));
  to.set_cause(from.cause);
}
LaunchFailed get(const storage::LaunchFailed& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), NodeId(from.node()), from.node_fault(), from.cause(),
          errors.check(from.blame(), kLastLaunchBlame, "blame for a failed launch")};
}

void put(const EndingBegan& from, storage::EndingBegan& to) {
  put(from.attempt, *to.mutable_attempt());
  put(from.ending, *to.mutable_ending());
  to.set_cause(from.cause);
}
EndingBegan get(const storage::EndingBegan& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), get(from.ending(), errors), from.cause()};
}

void put(const BatchFinished& from, storage::BatchFinished& to) {
  put(from.attempt, *to.mutable_attempt());
  put(from.exit, *to.mutable_exit());
  to.set_at(micros(from.at));
  put(from.ending, *to.mutable_ending());
  to.set_cause(from.cause);
}
BatchFinished get(const storage::BatchFinished& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), get(from.exit(), errors), to_time(from.at()),
          get(from.ending(), errors), from.cause()};
}

void put(const NodeReleased& from, storage::NodeReleased& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
  put(from.usage, *to.mutable_usage());
}
NodeReleased get(const storage::NodeReleased& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), NodeId(from.node()), get(from.usage(), errors)};
}

void put(const NodeFenced& from, storage::NodeFenced& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
  to.set_cause(from.cause);
}
NodeFenced get(const storage::NodeFenced& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), NodeId(from.node()), from.cause()};
}

void put(const ChargeCleared& from, storage::ChargeCleared& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_node(from.node.value());
}
ChargeCleared get(const storage::ChargeCleared& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), NodeId(from.node())};
}

void put(const Ended& from, storage::Ended& to) {
  put(from.key, *to.mutable_key());
  to.set_state(number(from.state));
  to.set_reason(number(from.reason));
  if (from.by) to.set_by(from.by->value());
}
Ended get(const storage::Ended& from, DecodeErrors& errors) {
  Ended to;
  to.key = get(from.key(), errors);
  to.state = errors.check(from.state(), JobState::deadline, "job state");
  to.reason = errors.check(from.reason(), kLastReason, "reason");
  if (from.has_by()) to.by = UserId(from.by());
  return to;
}

void put(const Requeued& from, storage::Requeued& to) {
  put(from.key, *to.mutable_key());
  to.set_node_fault(from.node_fault);
  to.set_hold(number(from.hold));
  to.set_not_before(micros(from.not_before));
}
Requeued get(const storage::Requeued& from, DecodeErrors& errors) {
  return {get(from.key(), errors), from.node_fault(),
          errors.check(from.hold(), Hold::special_exit, "hold"), to_time(from.not_before())};
}

void put(const Signalled& from, storage::Signalled& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_signal(from.signal);
  to.set_batch_only(from.batch_only);
  if (from.step) to.set_step(*from.step);
  to.set_by(from.by.value());
}
Signalled get(const storage::Signalled& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), from.signal(), from.batch_only(),
          from.has_step() ? std::optional(from.step()) : std::nullopt, UserId(from.by())};
}

void put(const Forgotten& from, storage::Forgotten& to) {
  put(from.key, *to.mutable_key());
}
Forgotten get(const storage::Forgotten& from, DecodeErrors& errors) {
  return {get(from.key(), errors)};
}

void put(const TimeNoticed& from, storage::TimeNoticed& to) {
  put(from.attempt, *to.mutable_attempt());
  to.set_percent(from.percent);
}
TimeNoticed get(const storage::TimeNoticed& from, DecodeErrors& errors) {
  return {get(from.attempt(), errors), from.percent()};
}

void put(const AccrualBegan& from, storage::AccrualBegan& to) {
  put(from.key, *to.mutable_key());
  to.set_since(micros(from.since));
}
AccrualBegan get(const storage::AccrualBegan& from, DecodeErrors& errors) {
  return {get(from.key(), errors), to_time(from.since())};
}

void put(const Earmarked& from, storage::Earmarked& to) {
  put(from.key, *to.mutable_key());
  put(from.preemption_claim, *to.mutable_earmark());
}
Earmarked get(const storage::Earmarked& from, DecodeErrors& errors) {
  return {get(from.key(), errors), get(from.earmark(), errors)};
}

}  // namespace ares::proto
