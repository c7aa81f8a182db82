// Messages from nodes: registration, heartbeats, progress, refused launches.
#include <algorithm>

#include "base/clip.h"
#include "core/cluster/heard_position.h"
#include "core/cluster/inventory.h"
#include "core/cluster/launch_guard.h"
#include "core/cluster/node_reboot.h"
#include "core/job/decide/decide_node_life.h"
#include "core/job/decide/report.h"
#include "core/topology/parsed_topology.h"
#include "model/cluster/cpu_layout.h"

namespace ares::core {
namespace {

// A session counts as alive for this many heartbeat intervals after its last message.
constexpr int kAliveHeartbeats = 3;

std::string ago(Duration d) {
  return std::to_string(std::chrono::duration_cast<Seconds>(d).count()) + " s";
}

// A node may list an attempt more than once; its last report counts.
void decide_reports(const DecisionContext& q, const Node& node,
                    const std::vector<AttemptReport>& reports, Decision& d) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const bool repeated = std::any_of(
        reports.begin() + static_cast<std::ptrdiff_t>(i) + 1, reports.end(),
        [&](const AttemptReport& later) { return later.attempt == reports[i].attempt; });
    if (!repeated) decide_report(q, node, reports[i], d);
  }
}

std::optional<Error> why_not_register(const DecisionContext& q, const Node& node, const Register& r,
                                      const NodeCommand& command) {
  // Of this database the engine has compared it.
  if (const JournalPosition heard = heard_by(r);
      heard.epoch > q.state.epoch || heard.lsn > q.state.lsn) {
    return Error{ErrorCode::stale, "node " + node.name +
                                       " has served another database of this cluster up to epoch " +
                                       std::to_string(heard.epoch.value()) + ", event " +
                                       std::to_string(heard.lsn.value()) +
                                       ", and this one is not as far. Give it an empty spool"};
  }
  if (r.inventory.gpu_topology != node.inventory.gpu_topology)
    if (const Status told = topology::check_gpu_topology(r.inventory.gpu_topology); !told)
      return Error{told.error().code,
                   "node " + node.name + ": topology of its GPUs: " + told.error().message};
  if (r.inventory.cpu_layout != node.inventory.cpu_layout)
    if (const auto layout = parse_cpu_layout(r.inventory.cpu_layout.text()); !layout)
      return Error{layout.error().code, "node " + node.name + ": " + layout.error().message};
  if (node.contact == Contact::never) return std::nullopt;
  const bool same = r.incarnation_tag == node.incarnation_tag;
  if (!same && command.rival_heard &&
      q.now - *command.rival_heard < q.policy.heartbeat * kAliveHeartbeats) {
    return Error{ErrorCode::already_exists, "two nodes of the name " + node.name + ": the one at " +
                                                node.address + " spoke " +
                                                ago(q.now - *command.rival_heard) + " ago; give " +
                                                command.address + " another name"};
  }
  if (r.incarnation < node.incarnation || (!same && r.incarnation == node.incarnation)) {
    return Error{
        ErrorCode::stale,
        "node " + node.name + " registers as incarnation " + std::to_string(r.incarnation) +
            " and was " + std::to_string(node.incarnation) +
            " before: an old copy of its spool directory, or a second machine of the same name"};
  }
  return std::nullopt;
}

// A node that is down and registers. The controller itself sets only those down that did not answer.
bool returns_to_service(const Policy& policy, const Node& node) {
  if (node.admin != AdminState::down) return false;
  return policy.return_to_service >= (node.reason_by ? kReturnAlways : kReturnLost);
}

// Its attempts are unknown from now on, as those of a node that has been silent for too long: time or an operator decides what
// becomes of them. Unlike those their node still speaks, through an agent elsewhere. None of them is fenced here: what has
// not started yet the agent ends, and proves it.
void lose_machine(const Node& node, Time since, Decision& d) {
  d.events.emplace_back(NodeLost{node.id, since, true});
}

// That it is gone replaces what was wrong with it before.
NodeGuard with_loss(NodeGuard guard, const std::string& fault) {
  guard.fault = clip(fault);
  return guard;
}

Decision decide_register(const DecisionContext& q, const Node& node, const Register& r,
                         const NodeCommand& command) {
  if (auto error = why_not_register(q, node, r, command))
    return refuse(error->code, std::move(error->message));

  Decision d;
  const bool new_incarnation =
      node.contact != Contact::never &&
      (r.incarnation_tag != node.incarnation_tag || r.incarnation != node.incarnation);
  const Inventory inventory = in_force(node.configured, r.inventory);
  const std::optional<Inventory> reported = if_cut(r.inventory, inventory);
  const bool stays_lost = r.machine_gone && node.contact == Contact::lost && !new_incarnation;
  const bool unchanged = node.contact == Contact::registered && !new_incarnation &&
                         node.inventory == inventory && node.reported == reported &&
                         node.can_freeze == r.can_freeze && node.version_text == r.version &&
                         node.enforced == r.enforced && node.address == command.address;
  if (!unchanged && !stays_lost) {
    define_tres(q.state, {&inventory}, d.events);
    d.events.emplace_back(NodeRegistered{node.id, node.name, r.incarnation_tag, r.incarnation,
                                         inventory, r.can_freeze, r.version, command.address,
                                         r.enforced, reported});
  }
  if (!reboot_ended(node, r, d.events)) {
    NodeGuard guard = with_fault(new_incarnation ? after_restart(node.guard) : node.guard, r.fault);
    if (r.machine_gone && !node.machine_gone) guard = with_loss(std::move(guard), r.fault);
    if (!r.machine_gone && returns_to_service(q.policy, node))
      d.events.emplace_back(NodeAdminSet{node.id, AdminState::up, {}, {}});
    settle(node, std::move(guard), r.inventory, d.events);
  }

  decide_reports(q, node, r.attempts, d);
  if (new_incarnation) {
    // The previous incarnation's processes are gone. Attempts not listed with a result are lost.
    for (const Charge& charge : node.charges) {
      const bool told =
          std::any_of(r.attempts.begin(), r.attempts.end(), [&](const AttemptReport& a) {
            return a.attempt == charge.attempt && a.fence == charge.fence && is_over(a.phase);
          });
      if (!told) decide_gone(q, node, charge, d);
    }
  }
  if (r.machine_gone && !(stays_lost && node.machine_gone))
    lose_machine(node, stays_lost ? node.silent_since.value_or(q.now) : q.now, d);
  d.effects.push_back({node.id, Lsn{}, Welcome{r.incarnation, q.policy.lease, q.policy.heartbeat}});
  d.reconcile = node.id;
  return d;
}

Decision decide_join(const DecisionContext& q, const Node* known, const Register& r,
                     const NodeCommand& command) {
  Result<NodeJoined> joined = may_join(q, command.message.node, r.inventory, known);
  if (!joined) return refuse(joined.error().code, joined.error().message);
  Node node = known ? *known : Node{};
  node.id = joined->id;
  node.name = joined->name;
  Decision d = decide_register(q, node, r, command);
  if (!d.failed) d.events.insert(d.events.begin(), *std::move(joined));
  return d;
}

Decision decide_refused_launch(const DecisionContext& q, const Node& node, const LaunchRefused& r) {
  Decision d;
  const Job* job = q.state.jobs.find(r.attempt.job);
  const NodeShare* share = job ? current_share(*job, r.attempt, r.fence, node.id) : nullptr;
  AttemptReport report;
  report.attempt = r.attempt;
  report.fence = r.fence;
  report.phase = AttemptPhase::never_ran;
  report.detail = r.cause;
  const bool jobs_fault = share && !r.node_fault && job->state == JobState::configuring &&
                          share->phase != SharePhase::released;
  if (!jobs_fault) {
    decide_report(q, node, report, d);
  } else {
    d.events.emplace_back(NodeReleased{r.attempt, node.id, {}});
    d.events.emplace_back(LaunchFailed{r.attempt, node.id, false, r.cause});
  }
  d.effects.push_back({node.id, Lsn{}, Forget{r.attempt, r.fence}});
  return d;
}

struct NodeMessageHandler {
  const DecisionContext& q;
  const NodeCommand& command;
  const Node& node;

  Decision operator()(const Register& r) const { return decide_register(q, node, r, command); }
  Decision operator()(const Heartbeat& h) const {
    Decision d;
    decide_reports(q, node, h.attempts, d);
    // What a report has just said of the node is not overwritten: the fault is told again.
    const bool settled = std::any_of(d.events.begin(), d.events.end(), [](const EventBody& event) {
      return std::holds_alternative<NodeGuardSet>(event);
    });
    const bool is_lost_now = h.machine_gone && !node.machine_gone;
    if (!settled && is_lost_now)
      settle(node, with_loss(node.guard, h.fault), node.inventory, d.events);
    else if (!settled)
      fault_reported(node, h.fault, d.events);
    if (is_lost_now) lose_machine(node, q.now, d);
    d.effects.push_back({node.id, Lsn{}, HeartbeatAck{h.sequence}});
    d.reconcile = node.id;
    return d;
  }
  Decision operator()(const Progress& p) const {
    Decision d;
    decide_report(q, node, p.report, d);
    // The end of an attempt that is settled already: the node may forget it.
    if (d.events.empty() && is_over(p.report.phase) && !awaited(p.report))
      d.effects.push_back({node.id, Lsn{}, Forget{p.report.attempt, p.report.fence}});
    if (!d.events.empty() && std::holds_alternative<ChargeCleared>(d.events.back())) {
      d.effects.push_back({node.id, Lsn{}, Forget{p.report.attempt, p.report.fence}});
    }
    return d;
  }
  Decision operator()(const LaunchRefused& r) const { return decide_refused_launch(q, node, r); }

  // The job still holds the node: the report has yet to count.
  bool awaited(const AttemptReport& r) const {
    const Job* job = q.state.jobs.find(r.attempt.job);
    const NodeShare* share = job ? current_share(*job, r.attempt, r.fence, node.id) : nullptr;
    return share && share->phase != SharePhase::released;
  }
};

// Not before it registers, unless it is the agent of a lost node that says what is known of its attempts. A heartbeat without that
// word comes from a machine that is back: it must register.
bool must_register(const Node& node, const FromNode& message) {
  if (node.contact == Contact::registered || std::holds_alternative<Register>(message.body))
    return false;
  if (node.contact != Contact::lost || !node.machine_gone) return true;
  const auto* heartbeat = std::get_if<Heartbeat>(&message.body);
  return heartbeat && !heartbeat->machine_gone;
}

}  // namespace

Decision decide_node(const DecisionContext& q, const NodeCommand& command) {
  const FromNode& message = command.message;
  const NodeId* id = q.state.node_ids.find(message.node);
  const Node* node = id ? q.state.nodes.find(*id) : nullptr;
  const auto* joining = std::get_if<Register>(&message.body);
  if (joining && joining->joins && (!node || (node->leaving && !node->joined.empty())))
    return decide_join(q, node, *joining, command);
  if (!node) {
    return refuse(ErrorCode::not_found,
                  "node " + message.node + " is not configured: add it to the nodes of ares.yaml");
  }
  const bool registers = std::holds_alternative<Register>(message.body);
  if (must_register(*node, message)) {
    return refuse(ErrorCode::failed_precondition,
                  "node " + node->name + " is not registered (any more): register first");
  }
  if (!registers && message.incarnation != node->incarnation) {
    return refuse(ErrorCode::stale, "node " + node->name + " has registered as incarnation " +
                                        std::to_string(node->incarnation) + " since");
  }
  return std::visit(NodeMessageHandler{q, command, *node}, message.body);
}

}  // namespace ares::core
