// Dependency notifications: dependents of a job that ended or began are updated in parts, because
// there may be a hundred thousand. Notifications are not state: the engine keeps those under way,
// and after a restart it runs notify_all_dependents(), because the records alone determine which
// dependents are due. Pure; plain values of the engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

struct DependencyNotification {
  DependencyEdge next, last;  // of ClusterState::dependents: the range that is left to visit
  TaskIndex changed{};  // only this task of the array that they wait for has ended; none: check all
  std::uint32_t next_task =
      0;  // in an array that waits task by task: tasks before this one have been checked
  bool done = false;
};

// Bound on the work of one call.
struct WorkBudget {
  std::size_t events = 0;   // may be exceeded by the events of one task
  std::size_t records = 0;  // records to visit, about 1 us each
};

// Adds notifications for dependents that the event just applied concerns; none if there are none.
void add_notifications_of_start(const ClusterState& state, const JobKey& started,
                                std::vector<DependencyNotification>& out);
void add_notifications_of_end(const ClusterState& state, const JobKey& ended,
                              std::vector<DependencyNotification>& out);
// For an array that is new, or newly waits for another task by task: its tasks may be over already.
void add_notifications_of_array(const ClusterState& state, const JobKey& array,
                                std::vector<DependencyNotification>& out);
// Jobs of one user and name run one at a time: the first one left, or its tasks, may wait for this.
void add_notifications_of_name(const ClusterState& state, const JobSpec& like,
                               std::vector<DependencyNotification>& out);
DependencyNotification notify_all_dependents();

// The next events owed to a dependent, which must be applied before the next call; their cost is
// taken from the budget. Empty if the budget is used up or the notification is done.
std::vector<EventBody> next_notification_events(const ClusterState& state,
                                                DependencyNotification& notification,
                                                WorkBudget& budget);

// The event for a dependency that has an outcome; none while it is waiting.
std::vector<EventBody> dependency_outcome(const ClusterState& state, const JobKey& key,
                                          const JobSpec& spec, const Dependency& dependency);

// Records that wait for something that is over; none without notifications under way. For tests.
std::vector<JobKey> missed_notifications(const ClusterState& state);

}  // namespace ares::core
