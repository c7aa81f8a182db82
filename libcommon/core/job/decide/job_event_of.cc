#include "core/job/transitions.h"

namespace ares::core {
namespace {

struct Classify {
  using Out = std::optional<JobEventRef>;
  static Out on(JobEvent e, const JobKey& key) { return JobEventRef{e, key}; }

  Out operator()(const Submitted& e) const { return on(JobEvent::submitted, e.key); }
  Out operator()(const TaskSplit& e) const { return on(JobEvent::task_split, e.key); }
  Out operator()(const Held& e) const { return on(JobEvent::held, e.key); }
  Out operator()(const Released& e) const { return on(JobEvent::released, e.key); }
  Out operator()(const Modified& e) const { return on(JobEvent::modified, e.key); }
  Out operator()(const DependencyMet& e) const { return on(JobEvent::dependency_met, e.key); }
  Out operator()(const DependencyFailed& e) const { return on(JobEvent::dependency_failed, e.key); }
  Out operator()(const Allocated& e) const { return on(JobEvent::allocated, e.key); }
  Out operator()(const NodeReady& e) const { return on(JobEvent::node_ready, e.attempt.job); }
  Out operator()(const Started& e) const { return on(JobEvent::started, e.attempt.job); }
  Out operator()(const NodeRunning& e) const { return on(JobEvent::node_running, e.attempt.job); }
  Out operator()(const LaunchFailed& e) const { return on(JobEvent::launch_failed, e.attempt.job); }
  Out operator()(const EndingBegan& e) const { return on(JobEvent::ending_began, e.attempt.job); }
  Out operator()(const BatchFinished& e) const {
    return on(JobEvent::batch_finished, e.attempt.job);
  }
  Out operator()(const NodeReleased& e) const { return on(JobEvent::node_released, e.attempt.job); }
  Out operator()(const NodeFenced& e) const { return on(JobEvent::node_fenced, e.attempt.job); }
  Out operator()(const ChargeCleared& e) const {
    return on(JobEvent::charge_cleared, e.attempt.job);
  }
  Out operator()(const Ended& e) const { return on(JobEvent::ended, e.key); }
  Out operator()(const Requeued& e) const { return on(JobEvent::requeued, e.key); }
  Out operator()(const Signalled& e) const { return on(JobEvent::signalled, e.attempt.job); }
  Out operator()(const Forgotten& e) const { return on(JobEvent::forgotten, e.key); }
  Out operator()(const LateResult& e) const { return on(JobEvent::late_result, e.attempt.job); }
  Out operator()(const AccrualBegan& e) const { return on(JobEvent::accrual_began, e.key); }
  Out operator()(const TimeNoticed& e) const { return on(JobEvent::time_noticed, e.attempt.job); }
  Out operator()(const Earmarked& e) const { return on(JobEvent::earmarked, e.key); }
  Out operator()(const ExpediteBegan& e) const {
    return on(JobEvent::expedite_began, e.attempt.job);
  }
  Out operator()(const ExpediteExpired& e) const { return on(JobEvent::expedite_expired, e.key); }
  Out operator()(const CheckpointRestored& e) const {
    return on(JobEvent::checkpoint_restored, e.attempt.job);
  }
  Out operator()(const CheckpointCommitted& e) const {
    return on(JobEvent::checkpoint_committed, e.attempt.job);
  }
  Out operator()(const Suspended& e) const { return on(JobEvent::suspended, e.attempt.job); }
  Out operator()(const Resumed& e) const { return on(JobEvent::resumed, e.attempt.job); }

  Out operator()(const ControllerActivated&) const { return {}; }
  Out operator()(const ConfigApplied&) const { return {}; }
  Out operator()(const TresDefined&) const { return {}; }
  Out operator()(const NodeRegistered&) const { return {}; }
  Out operator()(const NodeAdminSet&) const { return {}; }
  Out operator()(const NodeLost&) const { return {}; }
  Out operator()(const NodeGuardSet&) const { return {}; }
  Out operator()(const NodeRebootSet&) const { return {}; }
  Out operator()(const NodeJoined&) const { return {}; }
  Out operator()(const NodeLeft&) const { return {}; }
  Out operator()(const RequestRecorded&) const { return {}; }
  Out operator()(const RequestExpired&) const { return {}; }
  Out operator()(const Audited&) const { return {}; }
  Out operator()(const PlanPass&) const { return {}; }
  Out operator()(const PartitionModified&) const { return {}; }
  Out operator()(const ReservationSet&) const { return {}; }
  Out operator()(const ReservationRemoved&) const { return {}; }
  Out operator()(const AccountingChanged&) const { return {}; }
  Out operator()(const UsageCharged&) const { return {}; }
  Out operator()(const UsageSet&) const { return {}; }
  Out operator()(const StepsReported&) const { return {}; }
};

}  // namespace

std::optional<JobEventRef> job_event_of(const EventBody& body) {
  return std::visit(Classify{}, body);
}

}  // namespace ares::core
