#include "core/job/apply/apply.h"

#include "core/job/apply/records.h"
#include "core/job/transitions.h"

namespace ares::core {
namespace {

// One overload for each event: a new event does not compile until it is handled here.
struct Apply {
  ClusterState& state;
  Stamp s;

  void operator()(const Submitted& e) const { apply_job(state, e, s); }
  void operator()(const TaskSplit& e) const { apply_job(state, e, s); }
  void operator()(const Held& e) const { apply_job(state, e, s); }
  void operator()(const Released& e) const { apply_job(state, e, s); }
  void operator()(const Modified& e) const { apply_job(state, e, s); }
  void operator()(const DependencyMet& e) const { apply_job(state, e, s); }
  void operator()(const DependencyFailed& e) const { apply_job(state, e, s); }
  void operator()(const Ended& e) const { apply_job(state, e, s); }
  void operator()(const Requeued& e) const { apply_job(state, e, s); }
  void operator()(const Forgotten& e) const { apply_job(state, e, s); }
  void operator()(const AccrualBegan& e) const { apply_job(state, e, s); }
  void operator()(const Earmarked& e) const { apply_job(state, e, s); }
  void operator()(const ExpediteExpired& e) const { apply_job(state, e, s); }

  void operator()(const Allocated& e) const { apply_attempt(state, e, s); }
  void operator()(const NodeReady& e) const { apply_attempt(state, e, s); }
  void operator()(const Started& e) const { apply_attempt(state, e, s); }
  void operator()(const NodeRunning& e) const { apply_attempt(state, e, s); }
  void operator()(const LaunchFailed& e) const { apply_attempt(state, e, s); }
  void operator()(const EndingBegan& e) const { apply_attempt(state, e, s); }
  void operator()(const BatchFinished& e) const { apply_attempt(state, e, s); }
  void operator()(const NodeReleased& e) const { apply_attempt(state, e, s); }
  void operator()(const NodeFenced& e) const { apply_attempt(state, e, s); }
  void operator()(const ChargeCleared& e) const { apply_attempt(state, e, s); }
  void operator()(const TimeNoticed& e) const { apply_attempt(state, e, s); }
  void operator()(const Suspended& e) const { apply_attempt(state, e, s); }
  void operator()(const Resumed& e) const { apply_attempt(state, e, s); }
  void operator()(const ExpediteBegan& e) const { apply_attempt(state, e, s); }
  void operator()(const CheckpointCommitted& e) const { apply_attempt(state, e, s); }
  void operator()(const CheckpointRestored& e) const { apply_attempt(state, e, s); }
  void operator()(const Signalled&) const {}   // sent to nodes; changes no state
  void operator()(const LateResult&) const {}  // for the record

  void operator()(const NodeRegistered& e) const { apply_node(state, e, s); }
  void operator()(const NodeAdminSet& e) const { apply_node(state, e, s); }
  void operator()(const NodeLost& e) const { apply_node(state, e, s); }
  void operator()(const NodeGuardSet& e) const { apply_node(state, e, s); }
  void operator()(const NodeRebootSet& e) const { apply_node(state, e, s); }
  void operator()(const NodeJoined& e) const { apply_node(state, e, s); }
  void operator()(const NodeLeft& e) const { apply_node(state, e, s); }
  void operator()(const PartitionModified& e) const { apply_node(state, e, s); }
  void operator()(const ReservationSet& e) const {
    state.reservations.set(e.reservation.name, e.reservation);
  }
  void operator()(const ReservationRemoved& e) const { state.reservations.erase(e.name); }
  void operator()(const AccountingChanged& e) const { apply_bookkeeping(state, e, s); }
  void operator()(const UsageCharged& e) const {
    state.usage.set(e.usage.id, e.usage);
    if (e.of_qos) state.usage.set(e.of_qos->id, *e.of_qos);
    if (e.of_wckey) state.usage.set(e.of_wckey->id, *e.of_wckey);
    if (e.of_partition_qos) state.usage.set(e.of_partition_qos->id, *e.of_partition_qos);
  }
  void operator()(const UsageSet& e) const { apply_bookkeeping(state, e, s); }

  void operator()(const ControllerActivated& e) const { apply_bookkeeping(state, e, s); }
  void operator()(const ConfigApplied& e) const { apply_bookkeeping(state, e, s); }
  void operator()(const TresDefined& e) const { apply_bookkeeping(state, e, s); }
  void operator()(const RequestRecorded& e) const { apply_bookkeeping(state, e, s); }
  void operator()(const RequestExpired& e) const { apply_bookkeeping(state, e, s); }
  void operator()(const Audited&) const {}        // for the record
  void operator()(const StepsReported&) const {}  // rows of accounting
  void operator()(const PlanPass&) const {}       // for replay
};

}  // namespace

void apply(ClusterState& state, const Event& event) {
  state.lsn = event.lsn;
  if (event.at > state.now) state.now = event.at;
  if (const std::optional<JobEventRef> about = job_event_of(event.body)) {
    const Job* job = state.jobs.find(about->key);
    const auto from = job ? std::optional(job->state) : std::nullopt;
    if (!accepts(from, about->event)) return;
  }
  std::visit(Apply{state, Stamp{event.lsn, state.now}}, event.body);
}

}  // namespace ares::core
