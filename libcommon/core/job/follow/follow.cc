#include "core/job/follow/follow.h"

#include <algorithm>

#include "core/accounts/usage/charge.h"
#include "core/cluster/expedite.h"
#include "core/cluster/launch_guard.h"
#include "core/job/gang.h"

namespace ares::core {
namespace {

bool is_released(const NodeShare& s) {
  return s.phase == SharePhase::released || s.phase == SharePhase::fenced;
}

// After the n-th failed launch in a row a job waits backoff * 2^(n-1), at most the maximum.
Time back_off(const Policy& policy, std::uint32_t failures, Time now) {
  if (failures == 0) return Time{};
  const std::uint32_t doublings = std::min<std::uint32_t>(failures - 1, 20);
  return now +
         std::min<Seconds>(policy.launch_backoff * (1LL << doublings), policy.launch_backoff_max);
}

struct Follow {
  const ClusterState& state;
  const Policy& policy;
  Time now;
  std::vector<EventBody> out{};
  std::vector<DependencyNotification> notifications{};

  // Called when the attempt begins to end.
  void begins_to_end(const AttemptKey& attempt) {
    const Job* job = state.jobs.find(attempt.job);
    if (!job || job->attempt != attempt.attempt) return;
    if (auto began = expedite_of(state, policy, *job, now)) out.emplace_back(*std::move(began));
    end_if_released(attempt);
  }

  // When all nodes have released an ending attempt, the job ends or returns to the queue.
  void end_if_released(const AttemptKey& attempt) {
    const Job* job = state.jobs.find(attempt.job);
    if (!job || job->attempt != attempt.attempt || job->state != JobState::completing ||
        !job->ending || !job->allocation)
      return;
    const auto& nodes = job->allocation->nodes;
    if (!std::all_of(nodes.begin(), nodes.end(), is_released)) return;
    const Ending& ending = *job->ending;
    if (auto charged = charge_for(state, policy, *job, now)) out.emplace_back(*std::move(charged));
    if (ending.requeue) {
      const bool first = job->expedited || expedite_of(state, policy, *job, now);
      const Time not_before =
          ending.node_fault && !first ? back_off(policy, job->launch_failures, now) : Time{};
      out.emplace_back(Requeued{job->key, ending.node_fault, ending.hold, not_before});
    } else {
      out.emplace_back(Ended{job->key, ending.state, ending.reason, ending.by});
    }
  }

  void evaluate(const JobKey& key, const JobSpec& spec, const Dependency& d) {
    for (EventBody& event : dependency_outcome(state, key, spec, d))
      out.push_back(std::move(event));
  }

  // An array ends when its last task ends.
  void end_array(const JobKey& task) {
    if (task.task.is_none()) return;
    const Job* array = state.jobs.find(JobKey{task.job, {}});
    if (!array || !array->array || is_terminal(array->state)) return;
    if (!array->array->waiting.empty() || array->array->active > 0) return;
    if (array->ending) {
      out.emplace_back(
          Ended{array->key, array->ending->state, array->ending->reason, array->ending->by});
    } else if (array->array->completed + array->array->unsuccessful < array->spec->array->count()) {
      // It was cancelled before all of its tasks had records; other tasks ran again since.
      out.emplace_back(Ended{array->key, JobState::cancelled, Reason::none, {}});
    } else {
      const bool ok = array->array->unsuccessful == 0;
      out.emplace_back(
          Ended{array->key, ok ? JobState::completed : JobState::failed, Reason::none, {}});
    }
  }

  void operator()(const NodeReady& e) {
    const Job* job = state.jobs.find(e.attempt.job);
    if (!job || job->attempt != e.attempt.attempt || job->state != JobState::configuring ||
        !job->allocation)
      return;
    const auto& nodes = job->allocation->nodes;
    const bool all = std::all_of(nodes.begin(), nodes.end(),
                                 [](const NodeShare& s) { return s.phase == SharePhase::ready; });
    if (all) out.emplace_back(Started{e.attempt});
  }
  void operator()(const Started& e) {
    add_notifications_of_start(state, e.attempt.job, notifications);
  }
  void operator()(const LaunchFailed& e) {
    begins_to_end(e.attempt);
    if (const Node* node = state.nodes.find(e.node))
      launch_failed(policy, *node, e.blame, e.cause, now, out);
  }
  void operator()(const EndingBegan& e) { begins_to_end(e.attempt); }
  void operator()(const BatchFinished& e) { begins_to_end(e.attempt); }
  void operator()(const NodeReleased& e) { end_if_released(e.attempt); }
  void operator()(const NodeFenced& e) { end_if_released(e.attempt); }
  void operator()(const Ended& e) {
    end_array(e.key);
    add_notifications_of_end(state, e.key, notifications);
    const Job* job = state.jobs.find(e.key);
    if (!job || !is_terminal(job->state)) return;
    if (e.key.task.is_none()) add_notifications_of_name(state, *job->spec, notifications);
    // A member of a gang ended without a start.
    if (!job->spec->gang || job->attempt != AttemptNo{0}) return;
    for (EventBody& event : events_of_lost_member(state, *job)) out.push_back(std::move(event));
  }
  void operator()(const DependencyFailed& e) {
    const Job* job = state.jobs.find(e.key);
    if (!job || job->state != JobState::pending || !job->dependency_failed) return;
    // The other members of its gang do not wait for a job that can never start.
    if (!job->spec->kill_on_invalid_dependency && !waits_with_gang(*job)) return;
    if (job->array && job->array->waiting.empty()) return;
    out.emplace_back(Ended{e.key, JobState::cancelled, Reason::cancelled_dependency, {}});
  }

  // A dependency may have its outcome already when the record enters the queue.
  void evaluate_all(const JobKey& key) {
    const Job* job = state.jobs.find(key);
    if (!job || job->dependency_failed) return;
    for (const Dependency& d : job->waiting_for) evaluate(key, *job->spec, d);
  }
  // A job that was cancelled while it waited got no notifications.
  void operator()(const Requeued& e) { evaluate_all(e.key); }
  // The array may be notified later, and then only for tasks that it still has.
  void operator()(const TaskSplit& e) { evaluate_all(e.key); }

  void operator()(const Submitted& e) { add_notifications_of_array(state, e.key, notifications); }
  void operator()(const Modified& e) {
    if (e.waiting_for) add_notifications_of_array(state, e.key, notifications);
    const Job* job = e.was_named && e.key.task.is_none() ? state.jobs.find(e.key) : nullptr;
    if (!job) return;
    JobSpec before = *job->spec;
    before.name = *e.was_named;
    add_notifications_of_name(state, before, notifications);
  }

  void operator()(const ControllerActivated&) {}
  void operator()(const ConfigApplied&) {}
  void operator()(const TresDefined&) {}
  void operator()(const Held&) {}
  void operator()(const Released&) {}
  void operator()(const DependencyMet&) {}
  void operator()(const Allocated&) {}
  void operator()(const NodeRunning& e) {
    if (const Node* node = state.nodes.find(e.node)) attempt_runs(*node, out);
  }
  void operator()(const ChargeCleared&) {}
  void operator()(const Signalled&) {}
  void operator()(const CheckpointCommitted&) {}
  void operator()(const CheckpointRestored&) {}
  void operator()(const Forgotten&) {}
  void operator()(const NodeRegistered&) {}
  void operator()(const NodeAdminSet&) {}
  void operator()(const NodeLost& e) {
    const Node* node = state.nodes.find(e.id);
    if (node && node->admin == AdminState::up && policy.return_to_service == kReturnNever)
      out.emplace_back(NodeAdminSet{e.id, AdminState::fail, "was not responding", {}});
  }
  void operator()(const NodeGuardSet&) {}
  void operator()(const NodeRebootSet&) {}
  void operator()(const NodeJoined&) {}
  void operator()(const NodeLeft&) {}
  void operator()(const LateResult&) {}
  void operator()(const RequestRecorded&) {}
  void operator()(const RequestExpired&) {}
  void operator()(const Audited&) {}
  void operator()(const PlanPass&) {}
  void operator()(const PartitionModified&) {}
  void operator()(const TimeNoticed&) {}
  void operator()(const AccrualBegan&) {}
  void operator()(const Earmarked&) {}
  void operator()(const ExpediteBegan&) {}
  void operator()(const ExpediteExpired&) {}
  void operator()(const Suspended&) {}
  void operator()(const Resumed&) {}
  void operator()(const ReservationSet&) {}
  void operator()(const ReservationRemoved&) {}
  void operator()(const AccountingChanged&) {}
  void operator()(const UsageCharged&) {}
  void operator()(const UsageSet&) {}
  void operator()(const StepsReported&) {}
};

}  // namespace

Consequences follow(const ClusterState& state, const Policy& policy, const EventBody& event,
                    Time now) {
  Follow follow{state, policy, now};
  std::visit(follow, event);
  return {std::move(follow.out), std::move(follow.notifications)};
}

}  // namespace ares::core
