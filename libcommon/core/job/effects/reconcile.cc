// Messages owed to a node, computed from state alone.
#include <algorithm>

#include "core/cluster/spare_nodes.h"
#include "core/job/decide/report.h"
#include "core/job/effects/effects.h"
#include "model/engine/history.h"

namespace ares::core {
namespace {

bool is_charged(const Node& node, const AttemptReport& report) {
  return std::any_of(node.charges.begin(), node.charges.end(), [&](const Charge& c) {
    return c.attempt == report.attempt && c.fence == report.fence;
  });
}

// Null: the message does not say what the node has.
const std::vector<AttemptReport>* attempts_of(const FromNode& message) {
  if (const auto* r = std::get_if<Register>(&message.body)) return &r->attempts;
  const auto* h = std::get_if<Heartbeat>(&message.body);
  return h ? &h->attempts : nullptr;
}

class Reconcile {
 public:
  Reconcile(const Policy& policy, const ClusterState& state, const Node& node,
            const std::vector<AttemptReport>& reported)
      : policy_(policy), state_(state), node_(node), reported_(reported) {}

  Effects run() {
    // Suspended jobs release their CPUs before other jobs get Go.
    for (const Charge& charge : node_.charges) suspended(charge);
    for (const Charge& charge : node_.charges) charged(charge);
    if (node_.reboot && node_.reboot->issued_at) send(Reboot{node_.reboot->incarnation});
    for (const AttemptReport& report : reported_) {
      if (!is_charged(node_, report)) forgotten(report);
    }
    return std::move(out_);
  }

 private:
  void send(ToNodeBody body) { out_.push_back({node_.id, state_.lsn, std::move(body)}); }

  const AttemptReport* report_of(const Charge& charge) const {
    const AttemptReport* last = nullptr;
    for (const AttemptReport& r : reported_) {
      if (r.attempt == charge.attempt && r.fence == charge.fence) last = &r;
    }
    return last;
  }
  // The node keeps what has the latest position. What it was told by commits that a rollback took
  // back had a later one than the record, so that an attempt from before the rollback is told
  // everything again. 0: there is nothing to tell.
  Lsn told_at(const Charge& charge, Lsn set) const {
    const Lsn begin = begin_of(state_.history);
    return charge.fence.value() < begin.value() ? std::max(set, begin) : set;
  }

  // It is unknown what the node has applied, so the last setting is repeated; it keeps the newest.
  void tell_suspended(const Charge& charge, const Job& job) {
    const Lsn at = told_at(charge, job.allocation->suspend_set);
    if (at == Lsn{}) return;
    send(SetSuspended{charge.attempt, charge.fence, at, job.state == JobState::suspended,
                      policy_.suspend_wait});
  }

  void suspended(const Charge& charge) {
    const AttemptReport* report = report_of(charge);
    const Job* job = state_.jobs.find(charge.attempt.job);
    if (!job || job->state != JobState::suspended || (report && is_over(report->phase))) return;
    if (current_share(*job, charge.attempt, charge.fence, node_.id)) tell_suspended(charge, *job);
  }

  void prepare(const Job& job) {
    const NodeShares& shares = job.allocation->nodes;
    std::size_t rank = 0;
    while (shares[rank].node != node_.id) ++rank;  // it is one of them: see current_share()
    send(make_prepare(policy_, state_, job, rank, layout_of(state_, job)));
  }

  void charged(const Charge& charge) {
    const AttemptReport* report = report_of(charge);
    if (report && is_over(report->phase)) return;  // decide_report() handles its report
    if (report) checkpoints_known(*report);
    const Job* job = state_.jobs.find(charge.attempt.job);
    const NodeShare* share =
        job ? current_share(*job, charge.attempt, charge.fence, node_.id) : nullptr;
    if (!share) return send(kill_given_up(charge.attempt, charge.fence));
    switch (job->state) {
      case JobState::configuring:
        if (!report) prepare(*job);
        return;
      case JobState::running:
      case JobState::suspended: {
        const bool running = report && report->phase == AttemptPhase::running;
        if (!running) send(Go{charge.attempt, charge.fence});
        // It is unknown what the node applied, so a changed limit is repeated; it keeps the newest.
        if (const Lsn at = told_at(charge, job->allocation->limit_set); at != Lsn{})
          send(SetLimit{charge.attempt, charge.fence, at, job->allocation->time_limit});
        if (job->state == JobState::running) tell_suspended(charge, *job);
        return;
      }
      case JobState::completing:
        return send(Kill{charge.attempt, charge.fence, false, grace_of(*job)});
      default: return;  // current_share() is null in every other state
    }
  }

  // The node reports a checkpoint until it hears that it is committed.
  void checkpoints_known(const AttemptReport& report) {
    const Job* job = state_.jobs.find(report.attempt.job);
    if (!job || job->checkpoints.empty() || report.checkpoints.empty()) return;
    const Checkpoint& newest = job->checkpoints.front();
    if (newest.attempt == report.attempt.attempt &&
        newest.sequence >= report.checkpoints.front().sequence)
      send(CheckpointKnown{report.attempt, report.fence, newest.sequence});
  }

  void forgotten(const AttemptReport& report) {
    if (is_over(report.phase)) {
      send(Forget{report.attempt, report.fence});
    } else {
      send(kill_given_up(report.attempt, report.fence));
    }
  }

  const Policy& policy_;
  const ClusterState& state_;
  const Node& node_;
  const std::vector<AttemptReport>& reported_;
  Effects out_;
};

}  // namespace

Effects reconcile(const Policy& policy, const ClusterState& state, NodeId node,
                  const std::vector<AttemptReport>& reported) {
  const Node* record = state.nodes.find(node);
  if (!record) return {};
  return Reconcile(policy, state, *record, reported).run();
}

bool answers_roll_call(const ClusterState& state, const FromNode& message) {
  const NodeId* id = state.node_ids.find(message.node);
  const std::vector<AttemptReport>* attempts = attempts_of(message);
  if (!id || !attempts) return false;
  const Node& node = *state.nodes.find(*id);
  // A refused node is not told to end anything.
  if (node.incarnation != message.incarnation)
    return std::holds_alternative<Register>(message.body);
  return std::none_of(attempts->begin(), attempts->end(), [&](const AttemptReport& report) {
    return !is_over(report.phase) && !is_charged(node, report);
  });
}

namespace {

std::shared_ptr<const NodeLayout> layout_of_first(const ClusterState& state, const Job& job,
                                                  std::size_t count) {
  std::vector<std::string> names;
  std::vector<std::uint32_t> cpus, tasks, gpus;
  bool has_gpus = false;
  for (std::size_t rank = 0; rank < count; ++rank) {
    const NodeShare& share = job.allocation->nodes[rank];
    const Node* node = state.nodes.find(share.node);
    names.push_back(node ? node->name : "gone-" + std::to_string(share.node.value()));
    cpus.push_back(share.cpus);
    tasks.push_back(share.tasks);
    gpus.push_back(static_cast<std::uint32_t>(share.gpus.size()));
    has_gpus = has_gpus || !share.gpus.empty();
  }
  if (!has_gpus) gpus.clear();
  return std::make_shared<const NodeLayout>(std::move(names), std::move(cpus), std::move(tasks),
                                            std::move(gpus));
}

}  // namespace

// Spare nodes are left out.
std::shared_ptr<const NodeLayout> layout_of(const ClusterState& state, const Job& job) {
  return layout_of_first(state, job, nodes_in_use(*job.spec, job.allocation->nodes.size()));
}

Prepare make_prepare(const Policy& policy, const ClusterState& state, const Job& job,
                     std::size_t rank, std::shared_ptr<const NodeLayout> layout) {
  Prepare prepare;
  LaunchSpec& launch = prepare.launch;
  const Allocation& allocation = *job.allocation;
  launch.attempt = {job.key, job.attempt};
  launch.fence = allocation.fence;
  launch.own_id = job.own_id;
  launch.spec = job.spec;
  // The script sees the job without its spare nodes.
  if (const std::uint32_t spare = job.spec->spare_nodes; spare > 0)
    launch.spec = std::make_shared<const JobSpec>(with_fewer_nodes(*job.spec, spare));
  launch.cluster_name = policy.cluster_name;
  const NodeShare& share = allocation.nodes[rank];
  launch.rank = static_cast<std::uint32_t>(rank);
  // Nothing of the job runs on a spare node; it gets the names of all, its own among them.
  if (rank >= layout->names.size()) layout = layout_of_first(state, job, allocation.nodes.size());
  launch.node_name = layout->names[rank];
  launch.layout = std::move(layout);
  launch.share = share;
  launch.partition = allocation.partition;
  launch.time_limit = allocation.time_limit;
  launch.restarts = job.restarts;
  launch.kill_wait = policy.kill_wait;
  launch.leased = share.leased;
  launch.master_port = allocation.master_port;
  launch.checkpoints = job.checkpoints;
  if (job.spec->container && !job.spec->container->image.empty()) {
    launch.container_image = job.spec->container->image;
  } else if (const Partition* partition = state.partitions.find(allocation.partition)) {
    launch.container_image = partition->container_image;
  }
  if (const Node* node = state.nodes.find(share.node)) {
    for (GpuIndex index : share.gpus) {
      const auto& gpus = node->inventory.gpus;
      const auto gpu =
          std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& g) { return g.index == index; });
      launch.gpu_types.push_back(gpu == gpus.end() ? "gpu" : gpu->type);
    }
  }
  if (job.spec->array && !job.spec->array->empty()) {
    const IntervalSet& tasks = *job.spec->array;
    launch.array_count = static_cast<std::uint32_t>(tasks.count());
    launch.array_min = tasks.front();
    launch.array_max = tasks.back();
    auto second = tasks.begin();
    launch.array_step = ++second == tasks.end() ? 1 : *second - tasks.front();
  }
  return prepare;
}

}  // namespace ares::core
