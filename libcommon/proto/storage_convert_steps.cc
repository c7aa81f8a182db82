// Steps of attempts, as the journal keeps them.
#include <utility>

#include "proto/gen/storage.pb.h"
#include "proto/storage_events.h"
#include "proto/storage_fields.h"

namespace ares::proto {
namespace {

void put_step(const StepRecord& from, storage::StepRecord& to) {
  to.set_number(from.number);
  to.set_name(from.name);
  to.set_state(number(from.state));
  to.set_exit_code(from.exit_code);
  to.set_exit_signal(from.exit_signal);
  if (from.cancelled_by) to.set_cancelled_by(from.cancelled_by->value());
  to.set_started(micros(from.started));
  if (from.ended) to.set_ended(micros(*from.ended));
  to.set_steps(from.steps);
  to.set_tasks(from.tasks);
  to.set_cpus(from.cpus);
  to.set_nodes(from.nodes);
  to.set_node_list(from.node_list);
  to.set_user_cpu(from.user_cpu.count());
  to.set_system_cpu(from.system_cpu.count());
  to.set_max_rss(from.max_rss.value());
  to.set_sum_rss(from.sum_rss.value());
  to.set_max_rss_node(from.max_rss_node);
  to.set_disk_read(from.disk_read.value());
  to.set_disk_written(from.disk_written.value());
}

StepRecord get_step(const storage::StepRecord& from, DecodeErrors& errors) {
  StepRecord to;
  to.number = from.number();
  to.name = from.name();
  to.state = errors.check(from.state(), kLastStepState, "state of a step");
  to.exit_code = from.exit_code();
  to.exit_signal = from.exit_signal();
  if (from.has_cancelled_by()) to.cancelled_by = UserId(from.cancelled_by());
  to.started = to_time(from.started());
  if (from.has_ended()) to.ended = to_time(from.ended());
  to.steps = from.steps();
  to.tasks = from.tasks();
  to.cpus = from.cpus();
  to.nodes = from.nodes();
  to.node_list = from.node_list();
  to.user_cpu = Duration(from.user_cpu());
  to.system_cpu = Duration(from.system_cpu());
  to.max_rss = Bytes(from.max_rss());
  to.sum_rss = Bytes(from.sum_rss());
  to.max_rss_node = from.max_rss_node();
  to.disk_read = Bytes(from.disk_read());
  to.disk_written = Bytes(from.disk_written());
  return to;
}

}  // namespace

void put(const StepsReported& from, storage::StepsReported& to) {
  put(from.attempt, *to.mutable_attempt());
  for (const StepRecord& step : from.steps) put_step(step, *to.add_steps());
}
StepsReported get(const storage::StepsReported& from, DecodeErrors& errors) {
  StepsReported to{get(from.attempt(), errors), {}};
  for (const storage::StepRecord& step : from.steps()) to.steps.push_back(get_step(step, errors));
  return to;
}

}  // namespace ares::proto
