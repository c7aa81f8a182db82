// SimulatedNodes: the nodes of the simulated cluster. They answer what the controller tells them at once: no network, no disk, no
// processes. They keep the node protocol: ready, running only on Go, done once, nothing after they broke.
// Owned by a Simulation; one thread.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "model/engine/command.h"
#include "model/engine/effect.h"
#include "model/engine/state.h"

namespace ares::sim {

class SimulatedNodes {
 public:
  // What a node says next; `body` goes into a NodeCommand under its name.
  struct NodeMessage {
    NodeId node;
    FromNodeBody body;
  };

  // Nodes in the order of the configuration, with the ids the engine gave them. The state is not kept.
  SimulatedNodes(const config::Config& config, const ClusterState& state);

  std::size_t size() const { return nodes_.size(); }
  NodeCommand command(NodeMessage message) const;
  NodeMessage registration(NodeId node) const;

  void receive(const Effect& effect);
  // The script of the attempt is over. Nothing if it is not running there any more.
  void end(const AttemptKey& attempt, ExitStatus exit);

  // It stops in mid-sentence with all it runs; and comes back empty, as after a reboot.
  void fail(NodeId node, Time now);
  NodeMessage restart(NodeId node);
  // Since when it is silent; none if it is up.
  std::optional<Time> failed_at(NodeId node) const { return of(node).failed; }
  std::size_t down() const { return down_; }

  // What nodes have to say, oldest first; and attempts whose script has just begun.
  std::deque<NodeMessage> outbox;
  std::vector<AttemptKey> started;

 private:
  struct SimulatedNode {
    std::string name;
    Inventory inventory;
    std::uint64_t incarnation = 1;
    std::optional<Time> failed;
  };
  struct PreparedAttempt {
    Fence fence;
    NodeId batch;               // runs the script
    bool running = false;       // and has begun to
    std::vector<NodeId> nodes;  // where it is prepared or runs
  };

  SimulatedNode& of(NodeId node) { return nodes_[node.value() - first_]; }
  const SimulatedNode& of(NodeId node) const { return nodes_[node.value() - first_]; }
  void report_phase(NodeId node, const AttemptKey& attempt, Fence fence, AttemptPhase phase,
                    ExitStatus exit = {});
  void remove_from_node(const AttemptKey& attempt, NodeId node);

  std::vector<SimulatedNode> nodes_;  // by id, without a gap
  std::uint32_t first_ = 1;
  std::size_t down_ = 0;
  std::unordered_map<AttemptKey, PreparedAttempt> attempts_;
};

}  // namespace ares::sim
