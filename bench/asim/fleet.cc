#include "asim/fleet.h"

#include <algorithm>
#include <utility>

namespace ares::sim {

Fleet::Fleet(const config::Config& config, const ClusterState& state) {
  for (const config::ConfiguredNode& node : config.nodes) {
    if (nodes_.empty()) first_ = state.node_ids.find(node.name)->value();
    nodes_.push_back({node.name, node.inventory, 1, std::nullopt});
  }
}

NodeCommand Fleet::command(Said word) const {
  const Place& place = of(word.node);
  return {{place.name, place.incarnation, std::move(word.body)}, {}, std::nullopt};
}

Fleet::Said Fleet::registration(NodeId node) const {
  const Place& place = of(node);
  Register r;
  r.name = place.name;
  r.incarnation = place.incarnation;
  r.incarnation_tag = place.name + "/" + std::to_string(place.incarnation);
  r.inventory = place.inventory;
  r.can_freeze = true;
  r.version = "asim";
  return {node, std::move(r)};
}

void Fleet::tell(NodeId node, const AttemptKey& attempt, Fence fence, AttemptPhase phase,
                 ExitStatus exit) {
  AttemptReport report;
  report.attempt = attempt;
  report.fence = fence;
  report.phase = phase;
  report.exit = exit;
  said.push_back({node, Progress{std::move(report)}});
}

void Fleet::leave(const AttemptKey& attempt, NodeId node) {
  const auto found = attempts_.find(attempt);
  if (found == attempts_.end()) return;
  std::erase(found->second.places, node);
  if (found->second.places.empty()) attempts_.erase(found);
}

void Fleet::receive(const Effect& effect) {
  if (of(effect.node).failed) return;
  if (const auto* prepare = std::get_if<Prepare>(&effect.body)) {
    const LaunchSpec& launch = prepare->launch;
    if (launch.share.incarnation != of(effect.node).incarnation) return;
    Held& held = attempts_[launch.attempt];
    held.fence = launch.fence;
    if (launch.rank == 0) held.batch = effect.node;
    held.places.push_back(effect.node);
    tell(effect.node, launch.attempt, launch.fence, AttemptPhase::ready);
  } else if (const auto* go = std::get_if<Go>(&effect.body)) {
    const auto found = attempts_.find(go->attempt);
    if (found == attempts_.end()) return;
    tell(effect.node, go->attempt, go->fence, AttemptPhase::running);
    if (found->second.batch != effect.node || found->second.running) return;
    found->second.running = true;
    begun.push_back(go->attempt);
  } else if (const auto* kill = std::get_if<Kill>(&effect.body)) {
    const auto found = attempts_.find(kill->attempt);
    const bool ran = found != attempts_.end() && found->second.running;
    ExitStatus exit;
    exit.signal = 15;
    tell(effect.node, kill->attempt, kill->fence,
         ran ? AttemptPhase::done : AttemptPhase::never_ran, exit);
    leave(kill->attempt, effect.node);
  }
}

void Fleet::end(const AttemptKey& attempt, ExitStatus exit) {
  const auto found = attempts_.find(attempt);
  if (found == attempts_.end() || !found->second.running) return;
  const NodeId batch = found->second.batch;
  const auto& places = found->second.places;
  if (std::find(places.begin(), places.end(), batch) == places.end()) return;
  tell(batch, attempt, found->second.fence, AttemptPhase::done, exit);
  leave(attempt, batch);
}

void Fleet::fail(NodeId node, Time now) {
  of(node).failed = now;
  ++down_;
  std::vector<AttemptKey> there;
  for (const auto& [attempt, held] : attempts_)
    if (std::find(held.places.begin(), held.places.end(), node) != held.places.end())
      there.push_back(attempt);
  for (const AttemptKey& attempt : there) leave(attempt, node);
  std::erase_if(said, [&](const Said& word) { return word.node == node; });
}

Fleet::Said Fleet::come_back(NodeId node) {
  of(node).failed.reset();
  --down_;
  ++of(node).incarnation;
  return registration(node);
}

}  // namespace ares::sim
