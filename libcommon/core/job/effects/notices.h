// What a job's owner is told by mail because its record changed. Unlike effects, notices are not owed: they are made once, from a
// change as it is applied, and never again from state, so one that is lost with the process stays lost.
// Pure; called by the engine and by tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/job/transitions.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

enum class NoticeKind : std::uint8_t {
  began,
  ended,
  failed,  // ended, neither COMPLETED nor cancelled
  timed_out,
  requeued,
  invalid_dependency,
  time_share,  // so much of the time limit is used
};

// Everything that the mail says. A plain value: the state may be gone when it is written.
struct Notice {
  NoticeKind kind = NoticeKind::began;
  std::uint32_t percent = 0;  // of time_share
  JobKey key;
  JobId own_id;
  // Of mail about an array as a whole, or about tasks of it that never ran: which tasks.
  std::optional<IntervalSet> tasks;
  std::uint32_t completed = 0, unsuccessful = 0;  // of an array that has ended: its tasks

  std::string name;
  std::string user;
  std::string address;
  std::string work_dir;
  Time at{};
  JobState state = JobState::pending;
  Reason reason = Reason::none;
  std::string cause;
  ExitStatus exit;    // of an array: the highest exit code of its tasks
  std::string nodes;  // a host list
  Time submitted{};
  std::optional<Time> started;  // of an array: of its first task
  std::optional<Time> ended;
  std::optional<Seconds> time_limit;
};

// Whether such an event about such a record can make a notice: cheap, so that nothing is copied for those that cannot.
bool may_cause_notices(const Job& before, JobEvent event);

// The notices due because `before` became what `state` holds under its key, at that time.
// Without ARRAY_TASKS an array is told of as a whole: when its first task starts, and when the last has ended.
std::vector<Notice> notices(const Job& before, const ClusterState& state, Time at);

}  // namespace ares::core
