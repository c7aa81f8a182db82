// Mail to a job's owner about changes of its record. Unlike effects, notices are not owed: each is
// made once, when a change is applied, and never again from state, so one that is lost with the
// process stays lost. Pure; called by the engine and by tests.
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
  time_share,  // this share of the time limit is used
};

// The content of a mail. A copy, because the state may be gone when the mail is written.
struct Notice {
  NoticeKind kind = NoticeKind::began;
  std::uint32_t percent = 0;  // of time_share
  JobKey key;
  JobId own_id;
  // Which tasks, in mail about a whole array or about its tasks that never ran.
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

// Whether the event can cause notices for this job. Cheap, so that other records are not copied.
bool may_cause_notices(const Job& before, JobEvent event);

// The notices due because `before` became its record in `state`, at that time. Without ARRAY_TASKS
// mail is about the whole array: when its first task starts and its last task ends.
std::vector<Notice> notices(const Job& before, const ClusterState& state, Time at);

}  // namespace ares::core
