#include "asim/simulated_nodes.h"

#include <algorithm>
#include <utility>

namespace ares::sim {

SimulatedNodes::SimulatedNodes(const config::Config& config, const ClusterState& state) {
  for (const config::ConfiguredNode& node : config.nodes) {
    if (nodes_.empty()) first_ = state.node_ids.find(node.name)->value();
    nodes_.push_back({node.name, node.inventory, 1, std::nullopt});
  }
}

NodeCommand SimulatedNodes::command(NodeMessage message) const {
  const SimulatedNode& simulated = of(message.node);
  return {{simulated.name, simulated.incarnation, std::move(message.body)}, {}, std::nullopt};
}

SimulatedNodes::NodeMessage SimulatedNodes::registration(NodeId node) const {
  const SimulatedNode& simulated = of(node);
  Register r;
  r.name = simulated.name;
  r.incarnation = simulated.incarnation;
  r.incarnation_tag = simulated.name + "/" + std::to_string(simulated.incarnation);
  r.inventory = simulated.inventory;
  r.can_freeze = true;
  r.version = "asim";
  return {node, std::move(r)};
}

void SimulatedNodes::report_phase(NodeId node, const AttemptKey& attempt, Fence fence,
                                  AttemptPhase phase, ExitStatus exit) {
  AttemptReport report;
  report.attempt = attempt;
  report.fence = fence;
  report.phase = phase;
  report.exit = exit;
  outbox.push_back({node, Progress{std::move(report)}});
}

void SimulatedNodes::remove_from_node(const AttemptKey& attempt, NodeId node) {
  const auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return;
  std::erase(found->second.nodes, node);
  if (found->second.nodes.empty()) attempts_.erase(found);
}

void SimulatedNodes::receive(const Effect& effect) {
  if (of(effect.node).failed) return;
  if (const auto* prepare = std::get_if<Prepare>(&effect.body)) {
    const LaunchSpec& launch = prepare->launch;
    if (launch.share.incarnation != of(effect.node).incarnation) return;
    PreparedAttempt& prepared = attempts_[launch.attempt];
    prepared.fence = launch.fence;
    if (launch.rank == 0) prepared.batch = effect.node;
    prepared.nodes.push_back(effect.node);
    report_phase(effect.node, launch.attempt, launch.fence, AttemptPhase::ready);
  } else if (const auto* go = std::get_if<Go>(&effect.body)) {
    const auto found = attempts_.find(go->attempt);
    if (found == attempts_.end()) return;
    report_phase(effect.node, go->attempt, go->fence, AttemptPhase::running);
    if (found->second.batch != effect.node || found->second.running) return;
    found->second.running = true;
    started.push_back(go->attempt);
  } else if (const auto* kill = std::get_if<Kill>(&effect.body)) {
    const auto found = attempts_.find(kill->attempt);
    const bool ran = found != attempts_.end() && found->second.running;
    ExitStatus exit;
    exit.signal = 15;
    report_phase(effect.node, kill->attempt, kill->fence,
                 ran ? AttemptPhase::done : AttemptPhase::never_ran, exit);
    remove_from_node(kill->attempt, effect.node);
  }
}

void SimulatedNodes::end(const AttemptKey& attempt, ExitStatus exit) {
  const auto found = attempts_.find(attempt);
  if (found == attempts_.end() || !found->second.running) return;
  const NodeId batch = found->second.batch;
  const auto& nodes = found->second.nodes;
  if (std::find(nodes.begin(), nodes.end(), batch) == nodes.end()) return;
  report_phase(batch, attempt, found->second.fence, AttemptPhase::done, exit);
  remove_from_node(attempt, batch);
}

void SimulatedNodes::fail(NodeId node, Time now) {
  of(node).failed = now;
  ++down_;
  std::vector<AttemptKey> affected;
  for (const auto& [attempt, prepared] : attempts_)
    if (std::find(prepared.nodes.begin(), prepared.nodes.end(), node) != prepared.nodes.end())
      affected.push_back(attempt);
  for (const AttemptKey& attempt : affected) remove_from_node(attempt, node);
  std::erase_if(outbox, [&](const NodeMessage& message) { return message.node == node; });
}

SimulatedNodes::NodeMessage SimulatedNodes::restart(NodeId node) {
  of(node).failed.reset();
  --down_;
  ++of(node).incarnation;
  return registration(node);
}

}  // namespace ares::sim
