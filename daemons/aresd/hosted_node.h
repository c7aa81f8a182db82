// HostedNode: one node served by this aresd: its agent, spool and exec plugin, and the user lookup.
// Owned by NodeHost, used on NodeHost's only thread.
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
  std::string spool;  // directory; empty = in memory, for simulated nodes
};

class HostedNode final : private node::Uplink, private node::ExecutorEvents {
 public:
  using Send = std::function<void(const FromNode&)>;
  // Log messages about attempts; `concerns_operator`: something has to be done now or later.
  using Log = std::function<void(const std::string&, bool concerns_operator)>;

  // Opens the spool and resumes watching its attempts. The error says what is wrong with the spool.
  static Result<std::unique_ptr<HostedNode>> open(HostedNodeSetup setup, Send send, Log log,
                                                  node::Moment now);
  ~HostedNode() override;
  HostedNode(const HostedNode&) = delete;
  HostedNode& operator=(const HostedNode&) = delete;

  node::NodeAgent& agent() { return *agent_; }
  int event_fd() const { return executor_->event_fd(); }
  std::optional<BootTime> next_deadline() const;
  void dispatch(node::Moment now);  // all that is due

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
