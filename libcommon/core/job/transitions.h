// The state machine of a job, whole: what each event means in each state. Everything else consults this table.
// Constant data; any thread. decide() never makes an event the table does not accept; apply() leaves the record alone if it meets one.
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
};
inline constexpr std::size_t kJobEvents = 27;
std::string_view to_string(JobEvent e);  // "Submitted"

enum class Verdict : std::uint8_t {
  accepted,  // the record changes (or, for Signalled, something is owed)
  ignored,   // arrives in the ordinary course of things, too late or twice, and changes nothing
  refused,   // never made in this state: the command behind it is answered with an error
};

struct Transition {
  Verdict verdict = Verdict::refused;
  std::uint32_t to = 0;   // states it may lead to, one bit each; 0 = the record stays away or goes
  std::string_view owed;  // to nodes and to other records
  std::string_view remark;  // when, or why not
};

// `from` is none for a job the state does not hold.
const Transition& transition(std::optional<JobState> from, JobEvent event);
inline bool accepts(std::optional<JobState> from, JobEvent event) {
  return transition(from, event).verdict == Verdict::accepted;
}
bool may_lead_to(const Transition& t, JobState to);

// Which row an event belongs to, and whose job it is about; none for events about nodes and bookkeeping.
struct JobEventRef {
  JobEvent event;
  JobKey key;
};
std::optional<JobEventRef> job_event_of(const EventBody& body);

// The table as a section of a manual page (roff, man macros).
std::string print_transitions();

}  // namespace ares::core
