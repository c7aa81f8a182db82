// The state machine of a job: what each event means in each state. All other code uses this table.
// Constant data; any thread. decide() makes only events that it accepts; apply() ignores others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/engine/event.h"
#include "model/job/job.h"

namespace ares::core {

// The events that are about one job, in the order of the table.
enum class JobEvent : std::uint8_t {
  submitted,
  task_split,
  held,
  released,
  modified,
  dependency_met,
  dependency_failed,
  allocated,
  node_ready,
  started,
  node_running,
  launch_failed,
  ending_began,
  batch_finished,
  node_released,
  node_fenced,
  charge_cleared,
  ended,
  requeued,
  signalled,
  forgotten,
  late_result,
  time_noticed,
  earmarked,
  suspended,
  resumed,
  accrual_began,
  expedite_began,
  expedite_expired,
  checkpoint_committed,
  checkpoint_restored,
};
inline constexpr std::size_t kJobEvents = 31;
std::string_view to_string(JobEvent e);  // "Submitted"

enum class Verdict : std::uint8_t {
  accepted,  // the record changes (or, for Signalled, a message is owed)
  ignored,   // an ordinary late or repeated message; changes nothing
  refused,   // never made in this state: the command gets an error
};

struct Transition {
  Verdict verdict = Verdict::refused;
  std::uint32_t to = 0;   // possible next states, one bit each; 0 = the event is not accepted here
  std::string_view owed;  // messages to nodes and changes of other records
  std::string_view remark;  // condition, or reason of a refusal
};

// `from` is none if the state has no record of the job.
const Transition& transition(std::optional<JobState> from, JobEvent event);
inline bool accepts(std::optional<JobState> from, JobEvent event) {
  return transition(from, event).verdict == Verdict::accepted;
}
bool may_lead_to(const Transition& t, JobState to);

// The event's row and the job that it is about; none for events about nodes and bookkeeping.
struct JobEventRef {
  JobEvent event;
  JobKey key;
};
std::optional<JobEventRef> job_event_of(const EventBody& body);

// The table as a section of a manual page (roff, man macros).
std::string print_transitions();

}  // namespace ares::core
