// Wakes: who waits for what has ended or begun is told of it, a part at a time, because one end may be awaited by a hundred thousand.
// A wake is owed, not state: the engine keeps those under way, and after a restart asks for everybody again (notify_all_dependents), since
// who should be told follows from the records alone.
// Pure; plain values of the engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

struct DependencyNotification {
  DependencyEdge next, last;  // of ClusterState::dependents: who is still to be looked at
  TaskIndex changed{};  // only this task of the array they wait for ended; none: look at all of it
  std::uint32_t next_task =
      0;  // within an array that waits task by task: its tasks before this one were looked at
  bool done = false;
};

// What may still be done in one go.
struct WorkBudget {
  std::size_t events = 0;   // exceeded by one task's at most
  std::size_t records = 0;  // records, each about a microsecond
};

// Adds whom an event that was just applied concerns; nobody where nobody waits.
void add_notifications_of_start(const ClusterState& state, const JobKey& started,
                                std::vector<DependencyNotification>& out);
void add_notifications_of_end(const ClusterState& state, const JobKey& ended,
                              std::vector<DependencyNotification>& out);
// An array that came, or came to wait for another one task by task: tasks of that may have ended before.
void add_notifications_of_array(const ClusterState& state, const JobKey& array,
                                std::vector<DependencyNotification>& out);
// Jobs of one user and name go one at a time: the first of those that are left may be waiting for this, and tasks of it.
void add_notifications_of_name(const ClusterState& state, const JobSpec& like,
                               std::vector<DependencyNotification>& out);
DependencyNotification notify_all_dependents();

// The next answer that somebody is owed, which must be applied before the call after; takes what it cost from the allowance. Nothing
// when the allowance is used up, or the wake is done.
std::vector<EventBody> next_notification_events(const ClusterState& state,
                                                DependencyNotification& notification,
                                                WorkBudget& budget);

// What the record is told of a dependency that is not to be waited for any more; nothing while it is.
std::vector<EventBody> dependency_outcome(const ClusterState& state, const JobKey& key,
                                          const JobSpec& spec, const Dependency& dependency);

// Records that wait for what is over. Without a wake under way there are none. Slow: it looks at all; for tests.
std::vector<JobKey> missed_notifications(const ClusterState& state);

}  // namespace ares::core
