#include "core/job/effects/effects.h"

namespace ares::core {
namespace {

bool is_held(const NodeShare& share) {
  return share.phase != SharePhase::released && share.phase != SharePhase::fenced;
}

struct EffectsOfEvent {
  const Policy& policy;
  const ClusterState& state;
  Lsn lsn;
  Effects out;

  void send(NodeId node, ToNodeBody body) { out.push_back({node, lsn, std::move(body)}); }

  // The job, if the event is about its current attempt and there is an allocation; else null.
  const Job* live(const AttemptKey& attempt) const {
    const Job* job = state.jobs.find(attempt.job);
    return job && job->attempt == attempt.attempt && job->allocation ? job : nullptr;
  }
  template <class Message>
  void each(const AttemptKey& attempt, Message&& message, std::size_t from = 0) {
    const Job* job = live(attempt);
    if (!job) return;
    const auto& nodes = job->allocation->nodes;
    for (std::size_t i = from; i < nodes.size(); ++i) {
      if (is_held(nodes[i])) send(nodes[i].node, message(job->allocation->fence));
    }
  }
  void kill(const AttemptKey& attempt, std::size_t from = 0) {
    each(
        attempt,
        [&](Fence fence) {
          return Kill{attempt, fence, false, grace_of(*live(attempt))};
        },
        from);
  }

  void operator()(const Allocated& e) {
    const Job* job = live({e.key, e.attempt});
    if (!job) return;
    const auto layout = layout_of(state, *job);
    const NodeShares& shares = job->allocation->nodes;
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      send(shares[rank].node, make_prepare(policy, state, *job, rank, layout));
  }
  void operator()(const Started& e) {
    each(e.attempt, [&](Fence fence) { return Go{e.attempt, fence}; });
  }
  void operator()(const LaunchFailed& e) {
    // After Started another event causes the end and sends the Kill.
    const Job* job = live(e.attempt);
    if (job && job->state == JobState::completing && !job->started) kill(e.attempt);
  }
  void operator()(const EndingBegan& e) { kill(e.attempt); }
  void operator()(const BatchFinished& e) {
    kill(e.attempt, 1);
  }  // the first node reported the end
  void operator()(const NodeReleased& e) {
    const Job* job = live(e.attempt);
    if (job) send(e.node, Forget{e.attempt, job->allocation->fence});
  }
  void operator()(const Signalled& e) {
    const Job* job = live(e.attempt);
    if (!job) return;
    if (e.step) {  // the first node knows the steps
      const NodeShare& first = job->allocation->nodes.front();
      if (is_held(first))
        send(first.node,
             SignalStep{e.attempt, job->allocation->fence, lsn, *e.step, e.signal, e.by});
      return;
    }
    for (const NodeShare& share : job->allocation->nodes) {
      if (is_held(share))
        send(share.node, Signal{e.attempt, job->allocation->fence, lsn, e.signal, e.batch_only});
      if (e.batch_only) return;
    }
  }
  void operator()(const Modified& e) {
    const Job* job = state.jobs.find(e.key);
    if (!e.set_time_limit || !job || !holds_resources(job->state)) return;
    const AttemptKey attempt{job->key, job->attempt};
    each(attempt, [&](Fence fence) {
      return SetLimit{attempt, fence, lsn, job->allocation->time_limit};
    });
  }

  void suspend(const AttemptKey& attempt, bool suspended) {
    each(attempt, [&](Fence fence) {
      return SetSuspended{attempt, fence, lsn, suspended, policy.suspend_wait};
    });
  }
  void operator()(const Suspended& e) { suspend(e.attempt, true); }
  void operator()(const Resumed& e) { suspend(e.attempt, false); }

  // Events that send nothing, except ConfigApplied: reconcile() answers a node's next message.
  void operator()(const ControllerActivated&) {}
  void operator()(const ConfigApplied&) {
    // A new lease or heartbeat interval must arrive before the answer to a later heartbeat.
    state.nodes.for_each([&](NodeId id, const Node& node) {
      if (node.contact == Contact::registered)
        send(id, Welcome{node.incarnation, policy.lease, policy.heartbeat});
    });
  }
  void operator()(const TresDefined&) {}
  void operator()(const Submitted&) {}
  void operator()(const TaskSplit&) {}
  void operator()(const Held&) {}
  void operator()(const Released&) {}
  void operator()(const DependencyMet&) {}
  void operator()(const DependencyFailed&) {}
  void operator()(const NodeReady&) {}
  void operator()(const NodeRunning&) {}
  // The agent of a machine that is gone may give the attempt up. A silent node learns it when it comes back.
  void operator()(const NodeFenced& e) {
    const Node* node = state.nodes.find(e.node);
    if (!node || !node->machine_gone) return;
    for (const Charge& charge : node->charges)
      if (charge.attempt == e.attempt) send(e.node, kill_given_up(charge.attempt, charge.fence));
  }
  void operator()(const ChargeCleared&) {}
  void operator()(const Ended&) {}
  void operator()(const Requeued&) {}
  void operator()(const Forgotten&) {}
  void operator()(const NodeRegistered&) {}
  void operator()(const NodeAdminSet&) {}
  void operator()(const NodeLost&) {}
  void operator()(const NodeGuardSet&) {}
  void operator()(const NodeRebootSet& e) {
    if (e.reboot && e.reboot->issued_at) send(e.id, Reboot{e.reboot->incarnation});
  }
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
  void operator()(const CheckpointCommitted& e) {
    const Job* job = live(e.attempt);
    if (!job || !is_held(job->allocation->nodes.front())) return;
    send(job->allocation->nodes.front().node,
         CheckpointKnown{e.attempt, job->allocation->fence, e.checkpoint.sequence});
  }
  void operator()(const CheckpointRestored&) {}
  void operator()(const ReservationSet&) {}
  void operator()(const ReservationRemoved&) {}
  void operator()(const AccountingChanged&) {}
  void operator()(const UsageCharged&) {}
  void operator()(const UsageSet&) {}
  void operator()(const StepsReported&) {}
};

}  // namespace

Effects effects(const Policy& policy, const Event& event, const ClusterState& after) {
  EffectsOfEvent owed{policy, after, event.lsn, {}};
  std::visit(owed, event.body);
  return std::move(owed.out);
}

}  // namespace ares::core
