// HostedNode: one node served by this aresd: its agent, spool and exec plugin, and the user lookup.
// Owned by NodeHost, used on NodeHost's only thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "exec/adapter/open_plugin.h"
#include "node/agent.h"

namespace ares::aresd {

struct HostedNodeSetup {
  node::AgentSetup agent;
  std::string
      spool;  // directory; empty = in memory, for simulated nodes and those that the plugin finds
  // Of a node that the plugin has found, which alone knows it: what the node registers as. 0: its spool says.
  std::uint64_t incarnation = 0;
};

class HostedNode final : private node::Uplink, private node::ExecutorEvents {
 public:
  using Send = std::function<void(const FromNode&)>;
  // Log messages about attempts; `concerns_operator`: something has to be done now or later.
  using Log = std::function<void(const std::string&, bool concerns_operator)>;

  // Opens the spool and resumes watching its attempts. The error says what is wrong with the spool. `plugin` outlives the node.
  static Result<std::unique_ptr<HostedNode>> open(HostedNodeSetup setup, exec::OpenPlugin& plugin,
                                                  Send send, Log log, node::Moment now);
  ~HostedNode() override;
  HostedNode(const HostedNode&) = delete;
  HostedNode& operator=(const HostedNode&) = delete;

  node::NodeAgent& agent() { return *agent_; }
  // Called when the plugin has told something of an attempt, which may change the agent's next deadline.
  void on_event(std::function<void()> callback) { on_event_ = std::move(callback); }
  // Called with what attempts print, where no file gets it.
  using OnOutput = std::function<void(const node::OutputPart&)>;
  void on_output(OnOutput callback) { on_output_ = std::move(callback); }
  void output_stored(const node::OutputStored& stored) { executor_->output_stored(stored); }

 private:
  class MachineUsers;

  HostedNode(Send send, Log log);
  void send(FromNode message) override { send_(message); }
  void attempt_changed(const AttemptReport& report, node::Moment now) override;
  void launch_failed(const AttemptKey& key, Fence fence, bool node_fault, const std::string& cause,
                     node::Moment now) override;
  void output(const node::OutputPart& part) override { on_output_(part); }

  Send send_;
  Log log_;
  std::function<void()> on_event_ = [] {};
  OnOutput on_output_ = [](const node::OutputPart&) {};
  std::unique_ptr<node::Spool> spool_;
  std::unique_ptr<MachineUsers> users_;
  std::unique_ptr<node::NodeAgent> agent_;
  std::unique_ptr<node::Executor> executor_;
};

// Writes them to the log of the daemon.
HostedNode::Log log_of(const std::string& node);

}  // namespace ares::aresd
