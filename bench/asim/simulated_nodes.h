// SimulatedNodes: the nodes of the simulated cluster. They answer each message of the controller at
// once, without network, disk or processes. They follow the node protocol: ready, running only
// after Go, done once, no message after a failure. Owned by a Simulation; one thread.
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
  // A message of a node; `body` goes into a NodeCommand with the node's name.
  struct NodeMessage {
    NodeId node;
    FromNodeBody body;
  };

  // Nodes in the order of the configuration, with the engine's ids. Does not keep `state`.
  SimulatedNodes(const config::Config& config, const ClusterState& state);

  std::size_t size() const { return nodes_.size(); }
  NodeCommand command(NodeMessage message) const;
  NodeMessage registration(NodeId node) const;

  void receive(const Effect& effect);
  // The script of the attempt has ended. No effect if it is no longer running there.
  void end(const AttemptKey& attempt, ExitStatus exit);

  // fail(): the node goes silent with its jobs. restart(): it registers empty, as after a reboot.
  void fail(NodeId node, Time now);
  NodeMessage restart(NodeId node);
  // Since when the node is silent; nullopt if it is up.
  std::optional<Time> failed_at(NodeId node) const { return of(node).failed; }
  std::size_t down() const { return down_; }

  // Messages of the nodes, oldest first; and attempts whose script has just started.
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
    NodeId batch;               // the node that runs the script
    bool running = false;       // whether the script runs
    std::vector<NodeId> nodes;  // where it is prepared or running
  };

  SimulatedNode& of(NodeId node) { return nodes_[node.value() - first_]; }
  const SimulatedNode& of(NodeId node) const { return nodes_[node.value() - first_]; }
  void report_phase(NodeId node, const AttemptKey& attempt, Fence fence, AttemptPhase phase,
                    ExitStatus exit = {});
  void remove_from_node(const AttemptKey& attempt, NodeId node);

  std::vector<SimulatedNode> nodes_;  // by id, without gaps
  std::uint32_t first_ = 1;
  std::size_t down_ = 0;
  std::unordered_map<AttemptKey, PreparedAttempt> attempts_;
};

}  // namespace ares::sim
