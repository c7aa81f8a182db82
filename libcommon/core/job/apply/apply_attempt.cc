// Events about one attempt and the nodes it holds.
#include <algorithm>

#include "base/clip.h"
#include "core/job/apply/records.h"

namespace ares::core {
namespace {

// Changes the attempt that the event is about. Does nothing if it is not the current attempt.
template <class Change>
void change_attempt(ClusterState& state, const AttemptKey& attempt, Lsn lsn, Change&& change) {
  const Job* found = state.jobs.find(attempt.job);
  if (!found || found->attempt != attempt.attempt || !found->allocation) return;
  Job job = *found;
  change(job, *job.allocation);
  put_job(state, std::move(job), lsn);
}

// Calls change(share) on the attempt's share of that node, if it has one and changes(phase) holds.
template <class Changes, class Change>
void change_share(Allocation& allocation, NodeId node, Changes&& changes, Change&& change) {
  const auto found = std::find_if(allocation.nodes.begin(), allocation.nodes.end(),
                                  [&](const NodeShare& share) { return share.node == node; });
  if (found == allocation.nodes.end() || !changes(found->phase)) return;
  allocation.nodes.change(static_cast<std::size_t>(found - allocation.nodes.begin()), change);
}

void remove_charge(ClusterState& state, const AttemptKey& attempt, NodeId node, Lsn lsn) {
  const Node* found = state.nodes.find(node);
  if (!found) return;
  const auto mine = [&](const Charge& c) { return c.attempt == attempt; };
  if (std::none_of(found->charges.begin(), found->charges.end(), mine)) return;
  change_node(state, node, lsn, [&](Node& n) { std::erase_if(n.charges, mine); });
}

// "n1: cannot open output file /x: Permission denied", clipped because the text comes from a node.
std::string told_by(const ClusterState& state, NodeId id, const std::string& cause) {
  const Node* node = state.nodes.find(id);
  return clip((node ? node->name + ": " : "") + cause);
}

// Excludes the node from later attempts unless the user named it (-w). If that leaves the partition
// too few nodes for the job, only this node stays excluded, or none.
void exclude(const ClusterState& state, Job& job, NodeId node) {
  const Node* record = state.nodes.find(node);
  const auto& required = job.spec->required_nodes;
  if (record && std::find(required.begin(), required.end(), record->name) != required.end()) return;
  if (std::find(job.excluded.begin(), job.excluded.end(), node) != job.excluded.end()) return;
  job.excluded.push_back(node);
  const Partition* partition = state.partitions.find(job.allocation->partition);
  const std::size_t nodes = partition ? partition->nodes.size() : 0;
  const std::size_t needed = std::max<std::size_t>(1, job.spec->min_nodes);
  if (nodes >= needed + job.excluded.size()) return;
  job.excluded.clear();
  if (nodes >= needed + 1) job.excluded.push_back(node);
}

void stop_keeping(Job& job, NodeId node) {
  if (job.expedited) std::erase(job.expedited->nodes, node);
}

// Sets the CPUs of the attempt's charges: all that were allocated, or none while they are released.
void charge_cpus(ClusterState& state, const AttemptKey& attempt, const Allocation& allocation,
                 Lsn lsn) {
  for (const NodeShare& share : allocation.nodes) {
    const Node* node = state.nodes.find(share.node);
    if (!node) continue;
    const auto mine = [&](const Charge& c) {
      return c.attempt == attempt && c.fence == allocation.fence;
    };
    if (std::none_of(node->charges.begin(), node->charges.end(), mine)) continue;
    change_node(state, share.node, lsn, [&](Node& n) {
      Charge& charge = *std::find_if(n.charges.begin(), n.charges.end(), mine);
      charge.cpus = allocation.cpus_released ? 0 : share.cpus;
      charge.cpu_thousandths = allocation.cpus_released ? 0 : share.cpu_thousandths;
      charge.cpu_ids = allocation.cpus_released ? std::vector<std::uint32_t>{} : share.cpu_ids;
    });
  }
}

// Adds the length of the suspension to the total. Does not take released CPUs back.
void end_suspension(Allocation& allocation, Time at) {
  if (!allocation.suspension) return;
  allocation.suspended += std::max(Duration{}, Duration{at - allocation.suspension->at});
  allocation.suspension.reset();
}

}  // namespace

void apply_attempt(ClusterState& state, const Allocated& e, Stamp s) {
  const AttemptKey attempt{e.key, e.attempt};
  const Fence fence{s.lsn.value()};
  change_job(state, e.key, s.lsn, [&](Job& job) {
    job.state = JobState::configuring;
    job.reason = Reason::none;
    job.attempt = e.attempt;
    job.time_noticed = 0;
    job.started.reset();
    job.ending.reset();
    job.preemption_claim.reset();
    job.expedited.reset();
    job.allocation = Allocation{fence, e.partition, s.at, e.nodes, e.time_limit, e.licenses};
    job.allocation->alternative = e.alternative;
    job.allocation->tres = e.tres;
    job.allocation->charged_to = e.charged_to;
    job.allocation->master_port = e.master_port;
    job.allocation->priority = e.priority;
  });
  const Job* job = state.jobs.find(e.key);
  if (!job) return;
  const JobSpec& spec = *job->spec;
  for (const NodeShare& share : e.nodes) {
    change_node(state, share.node, s.lsn, [&](Node& node) {
      Charge charge{attempt,       fence,    share.cpus,          share.memory,  share.gpus,
                    share.cpu_ids, spec.uid, spec.exclusive_user, share.gpu_part};
      charge.cpu_thousandths = share.cpu_thousandths;
      if (&share == &e.nodes.front()) charge.master_port = e.master_port;
      charge.tmp_disk = spec.tmp_disk;
      const auto at =
          std::lower_bound(node.charges.begin(), node.charges.end(), attempt,
                           [](const Charge& c, const AttemptKey& key) { return c.attempt < key; });
      node.charges.insert(at, std::move(charge));
    });
  }
}

void apply_attempt(ClusterState& state, const NodeReady& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job&, Allocation& allocation) {
    change_share(
        allocation, e.node, [](SharePhase was) { return was == SharePhase::preparing; },
        [](NodeShare& share) { share.phase = SharePhase::ready; });
  });
}

void apply_attempt(ClusterState& state, const Started& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation&) {
    job.state = JobState::running;
    job.started = s.at;
    job.cause.clear();  // of an earlier attempt, whose row has it
    job.preempted.reset();
  });
}

void apply_attempt(ClusterState& state, const NodeRunning& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation& allocation) {
    change_share(
        allocation, e.node, [](SharePhase was) { return was == SharePhase::ready; },
        [&](NodeShare& share) {
          share.phase = SharePhase::running;
          job.launch_failures = 0;
          job.excluded.clear();
        });
  });
}

void apply_attempt(ClusterState& state, const LaunchFailed& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation&) {
    const bool first = job.state == JobState::configuring;
    if (e.node_fault) exclude(state, job, e.node);
    if (e.node_fault) stop_keeping(job, e.node);
    if (e.node_fault || first) ++job.launch_failures;
    if (!first) return;
    job.cause = told_by(state, e.node, e.cause);
    job.state = JobState::completing;
    job.ending =
        e.node_fault
            ? Ending{JobState::node_fail, Reason::launch_failure, {}, true, job.hold, true}
            : Ending{JobState::failed, Reason::launch_failure, {}, false, Hold::none, false};
    if (e.node_fault) job.ending->failed_node = e.node;
  });
}

void apply_attempt(ClusterState& state, const EndingBegan& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation& allocation) {
    // The first ending is kept, but one without requeue (a cancellation) replaces one with requeue.
    if (job.ending && (!job.ending->requeue || e.ending.requeue)) return;
    job.expedited.reset();
    end_suspension(allocation, s.at);
    job.state = JobState::completing;
    job.ending = e.ending;
    if (!e.cause.empty() && e.ending.failed_node)
      job.cause = told_by(state, *e.ending.failed_node, e.cause);
  });
}

void apply_attempt(ClusterState& state, const BatchFinished& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation& allocation) {
    end_suspension(allocation, e.at);
    job.exit = e.exit;
    if (!e.cause.empty()) job.cause = told_by(state, job.allocation->nodes.front().node, e.cause);
    job.ended = e.at;  // as reported by the node; the report may arrive much later
    if (job.state != JobState::completing) job.ending = e.ending;
    job.state = JobState::completing;
  });
}

void apply_attempt(ClusterState& state, const NodeReleased& e, Stamp s) {
  remove_charge(state, e.attempt, e.node, s.lsn);
  change_attempt(state, e.attempt, s.lsn, [&](Job&, Allocation& allocation) {
    change_share(
        allocation, e.node, [](SharePhase was) { return was != SharePhase::fenced; },
        [&](NodeShare& share) {
          share.phase = SharePhase::released;
          share.usage = e.usage;
        });
  });
}

void apply_attempt(ClusterState& state, const NodeFenced& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation& allocation) {
    if (!e.cause.empty()) job.cause = told_by(state, e.node, e.cause);
    stop_keeping(job, e.node);
    change_share(
        allocation, e.node, [](SharePhase was) { return was != SharePhase::released; },
        [](NodeShare& share) { share.phase = SharePhase::fenced; });
  });
}

void apply_attempt(ClusterState& state, const ChargeCleared& e, Stamp s) {
  remove_charge(state, e.attempt, e.node, s.lsn);
}

void apply_attempt(ClusterState& state, const TimeNoticed& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation&) {
    job.time_noticed = std::max(job.time_noticed, e.percent);
  });
}

void apply_attempt(ClusterState& state, const ExpediteBegan& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation&) {
    job.expedited = e.expedited;
    job.expedited_returns = e.returns;
    if (job.ending && job.ending->failed_node) exclude(state, job, *job.ending->failed_node);
  });
}

void apply_attempt(ClusterState& state, const CheckpointCommitted& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation&) {
    if (!job.spec->checkpoint) return;
    job.checkpoints.insert(job.checkpoints.begin(), e.checkpoint);
    if (job.checkpoints.size() > job.spec->checkpoint->keep)
      job.checkpoints.resize(job.spec->checkpoint->keep);
  });
}

void apply_attempt(ClusterState& state, const CheckpointRestored& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn,
                 [&](Job& job, Allocation&) { job.restored = e.restored; });
}

void apply_attempt(ClusterState& state, const Suspended& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation& allocation) {
    end_suspension(allocation, s.at);
    job.state = JobState::suspended;
    allocation.suspension = Suspension{s.at, e.by, e.by_user, e.preempted_by};
    allocation.suspend_set = s.lsn;
    allocation.cpus_released = true;
    charge_cpus(state, e.attempt, allocation, s.lsn);
  });
}

void apply_attempt(ClusterState& state, const Resumed& e, Stamp s) {
  change_attempt(state, e.attempt, s.lsn, [&](Job& job, Allocation& allocation) {
    end_suspension(allocation, s.at);
    job.state = JobState::running;
    allocation.suspend_set = s.lsn;
    allocation.cpus_released = false;
    charge_cpus(state, e.attempt, allocation, s.lsn);
  });
}

}  // namespace ares::core
