// HostedNode: one node served by this aresd: its agent, its spool, its exec plugin, and the users of the machine.
// Owned by NodeHost, used on its one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "exec/adapter/plugin_executor.h"
#include "node/agent.h"

namespace ares::aresd {

struct HostedNodeSetup {
  node::AgentSetup agent;
  const ares_exec_plugin* plugin = nullptr;
  std::string plugin_options;
  std::string spool;  // directory; empty = in memory, for pretended nodes
};

class HostedNode final : private node::Uplink, private node::ExecutorEvents {
 public:
  using Send = std::function<void(const FromNode&)>;
  using Log =
      std::function<void(const std::string&)>;  // what an operator wants to know of attempts

  // Takes the spool and what runs in it. The error names what is wrong with it.
  static Result<std::unique_ptr<HostedNode>> open(HostedNodeSetup setup, Send send, Log log,
                                                  node::Moment now);
  ~HostedNode() override;
  HostedNode(const HostedNode&) = delete;
  HostedNode& operator=(const HostedNode&) = delete;

  node::NodeAgent& agent() { return *agent_; }
  int event_fd() const { return executor_->event_fd(); }
  std::optional<BootTime> next_deadline() const;
  void dispatch(node::Moment now);  // whatever is due

 private:
  class MachineUsers;

  HostedNode(Send send, Log log);
  void send(FromNode message) override { send_(message); }
  void attempt_changed(const AttemptReport& report, node::Moment now) override;
  void launch_failed(const AttemptKey& key, Fence fence, bool node_fault, const std::string& cause,
                     node::Moment now) override;

  Send send_;
  Log log_;
  std::unique_ptr<node::Spool> spool_;
  std::unique_ptr<MachineUsers> users_;
  std::unique_ptr<node::NodeAgent> agent_;
  std::unique_ptr<exec::PluginExecutor> executor_;
};

}  // namespace ares::aresd
