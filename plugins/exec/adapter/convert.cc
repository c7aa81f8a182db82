#include "exec/adapter/convert.h"

#include "node/checkpoint_fields.h"

namespace ares::exec {

static_assert(static_cast<int>(AttemptPhase::accepted) == ARES_EXEC_ACCEPTED &&
              static_cast<int>(AttemptPhase::ready) == ARES_EXEC_READY &&
              static_cast<int>(AttemptPhase::running) == ARES_EXEC_RUNNING &&
              static_cast<int>(AttemptPhase::done) == ARES_EXEC_DONE &&
              static_cast<int>(AttemptPhase::never_ran) == ARES_EXEC_NEVER_RAN &&
              static_cast<int>(AttemptPhase::lost) == ARES_EXEC_LOST);
static_assert(static_cast<int>(LaunchFault::node) == ARES_EXEC_FAULT_NODE &&
              static_cast<int>(LaunchFault::user) == ARES_EXEC_FAULT_USER &&
              static_cast<int>(LaunchFault::system) == ARES_EXEC_FAULT_SYSTEM);
static_assert(TaskIndex::kNone == ARES_EXEC_NO_TASK);

ares_exec_key to_abi(const AttemptKey& key, ares_exec_node node) {
  return {key.job.job.value(), key.job.task.value, key.attempt.value(), node};
}

AttemptKey from_abi(const ares_exec_key& key) {
  return {{JobId(key.job), TaskIndex{key.task}}, AttemptNo(key.attempt)};
}

ares_exec_report to_abi(const AttemptReport& report, ares_exec_node node) {
  ares_exec_report out{};
  out.size = sizeof out;
  out.key = to_abi(report.attempt, node);
  out.fence = report.fence.value();
  out.phase = static_cast<std::int32_t>(report.phase);
  out.exit_code = report.exit.code;
  out.exit_signal = report.exit.signal;
  out.out_of_memory = report.exit.out_of_memory;
  out.timed_out = report.exit.timed_out;
  out.ran_since_us = to_abi(report.ran_since);
  out.ended_at_us = to_abi(report.ended_at);
  out.user_cpu_us = report.usage.user_cpu.count();
  out.system_cpu_us = report.usage.system_cpu.count();
  out.max_rss = report.usage.max_rss.value();
  out.detail = to_abi(std::string_view(report.detail));
  out.disk_read = report.usage.disk_read.value();
  out.disk_written = report.usage.disk_written.value();
  out.node_problem = to_abi(std::string_view(report.node_problem));
  out.stopped = report.stopped.value();
  out.fault = static_cast<std::int32_t>(report.fault);
  return out;
}

AttemptReport from_abi(const ares_exec_report& report) {
  AttemptReport out;
  out.attempt = from_abi(report.key);
  out.fence = Fence(report.fence);
  // An unknown phase is a bug of the plugin. `lost` is safe: it means that the job may have run.
  out.phase = report.phase >= ARES_EXEC_ACCEPTED && report.phase <= ARES_EXEC_LOST
                  ? static_cast<AttemptPhase>(report.phase)
                  : AttemptPhase::lost;
  out.exit = {report.exit_code, report.exit_signal, report.out_of_memory != 0,
              report.timed_out != 0};
  out.ran_since = time_from_abi<Time>(report.ran_since_us);
  out.ended_at = time_from_abi<Time>(report.ended_at_us);
  out.usage = {Duration(report.user_cpu_us), Duration(report.system_cpu_us), Bytes(report.max_rss),
               Bytes(report.disk_read), Bytes(report.disk_written)};
  out.detail = std::string(from_abi(report.detail));
  out.node_problem = std::string(from_abi(report.node_problem));
  // A plugin that gets them wrong reports none.
  if (auto checkpoints = node::decode_checkpoints(from_abi(report.checkpoints)))
    out.checkpoints = std::move(*checkpoints);
  if (auto restored = node::decode_restored(from_abi(report.restored))) out.restored = *restored;
  out.stopped = Lsn(report.stopped);
  if (report.fault >= ARES_EXEC_FAULT_NODE && report.fault <= ARES_EXEC_FAULT_SYSTEM)
    out.fault = static_cast<LaunchFault>(report.fault);
  return out;
}

}  // namespace ares::exec
