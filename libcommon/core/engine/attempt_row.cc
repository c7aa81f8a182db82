#include "core/engine/attempt_row.h"

#include <utility>

namespace ares::core {
namespace {

// The fields that are the same in all rows of the job.
Attempt blank_row(const Job& job, AttemptNo attempt) {
  Attempt row;
  row.key = {job.key, attempt};
  row.own_id = job.own_id;
  row.spec = job.spec;
  row.submitted = job.submitted;
  row.eligible = job.eligible;
  row.restarts = job.restarts;
  row.priority = job.priority;
  row.time_limit = job.time_limit;
  return row;
}

std::optional<Attempt> requeued_row(const Job& job, Time at) {
  std::optional<Attempt> row;
  if (job.state == JobState::completing && job.ending) {
    // The record is reused for the next attempt, so the final row of this one is written now.
    Job ended = job;
    ended.state = job.ending->state;
    ended.reason = job.ending->reason;
    if (!ended.ended) ended.ended = at;
    row = attempt_row(ended);
  } else if (is_terminal(job.state)) {
    row = attempt_row(job);
  }
  if (row) row->superseded = true;
  return row;
}

}  // namespace

std::optional<Attempt> attempt_row(const Job& job) {
  const bool allocated = job.allocation.has_value();
  const bool over = is_terminal(job.state);
  if (job.array || (!allocated && !over)) return std::nullopt;
  // A job that ended without an allocation waited for its next attempt. Rows of earlier ones exist.
  Attempt row = blank_row(job, allocated                  ? job.attempt
                               : job.attempt.value() == 0 ? AttemptNo{0}
                                                          : job.attempt.next());
  row.state = job.state;
  row.reason = job.reason;
  if (over && job.ending) row.cancelled_by = job.ending->by;
  if (allocated) row.allocation = *job.allocation;
  if (allocated && job.allocation->priority > 0) row.priority = job.allocation->priority;
  row.started = job.started;
  if (over) row.ended = job.ended;
  row.exit = job.exit;
  row.cause = job.cause;
  return row;
}

std::optional<Attempt> superseded_row(const Job& before, const EventBody& event, Time at) {
  if (std::holds_alternative<Requeued>(event)) return requeued_row(before, at);
  const auto* ended = std::get_if<Ended>(&event);
  if (!ended || !before.array || before.array->waiting.empty()) return std::nullopt;
  Attempt row = blank_row(before, AttemptNo{0});
  row.state = ended->state;
  row.reason = ended->reason;
  row.cancelled_by = ended->by;
  row.ended = at;
  row.tasks = before.array->waiting;
  return row;
}

bool changes_row(JobEvent event) {
  switch (event) {
    case JobEvent::allocated:
    case JobEvent::started:
    case JobEvent::modified:
    case JobEvent::suspended:
    case JobEvent::resumed:
    case JobEvent::ending_began:
    case JobEvent::ended:
    case JobEvent::requeued: return true;
    case JobEvent::submitted:
    case JobEvent::task_split:
    case JobEvent::held:
    case JobEvent::released:
    case JobEvent::dependency_met:
    case JobEvent::dependency_failed:
    case JobEvent::node_ready:
    case JobEvent::node_running:
    case JobEvent::launch_failed:
    case JobEvent::batch_finished:
    case JobEvent::node_released:
    case JobEvent::node_fenced:
    case JobEvent::charge_cleared:
    case JobEvent::signalled:
    case JobEvent::forgotten:
    case JobEvent::late_result:
    case JobEvent::time_noticed:
    case JobEvent::accrual_began:
    case JobEvent::expedite_began:
    case JobEvent::expedite_expired:
    case JobEvent::checkpoint_committed:
    case JobEvent::checkpoint_restored:
    case JobEvent::earmarked: return false;
  }
  return true;
}

}  // namespace ares::core
