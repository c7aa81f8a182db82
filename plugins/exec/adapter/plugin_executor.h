// PluginExecutor: an exec plugin behind the Executor interface of the node agent. The host's half
// of the bridge to the exec ABI. Owned by aresd, one per node; used on the agent's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/executor.h"
#include "node/records.h"
#include "plugin/exec_abi.h"

namespace ares::exec {

struct PluginSetup {
  std::string node;
  std::string spool;  // directory; empty = the node has none on disk
  std::string boot_id;
  std::string options;  // `key value` lines
};

class PluginExecutor final : public node::Executor {
 public:
  // `plugin` passed check_exec_plugin. launch() reads records from `spool`. All three outlive this.
  static Result<std::unique_ptr<PluginExecutor>> open(const ares_exec_plugin& plugin,
                                                      PluginSetup setup, node::Spool& spool,
                                                      node::ExecutorEvents& events);
  ~PluginExecutor() override;
  PluginExecutor(const PluginExecutor&) = delete;
  PluginExecutor& operator=(const PluginExecutor&) = delete;

  Status launch(const node::StepSpec& spec, node::Moment now) override;
  void go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) override;
  void kill(const Kill& kill, node::Moment now) override;
  void signal(const Signal& signal, node::Moment now) override;
  void set_limit(const SetLimit& limit, node::Moment now) override;
  void set_suspended(const SetSuspended& message, node::Moment now) override;
  void checkpoint_known(const CheckpointKnown& message, node::Moment now) override;
  bool tells_stopped() const override;
  void renew_lease(const AttemptKey& key, BootTime until, node::Moment now) override;
  void release(const AttemptKey& key, node::Moment now) override;
  std::optional<AttemptUse> use_of(const AttemptKey& key) override;
  std::vector<AttemptReport> list(node::Moment now) override;

  int event_fd() const;
  std::optional<BootTime> next_deadline() const;
  void dispatch(node::Moment now);

 private:
  PluginExecutor(const ares_exec_plugin& plugin, PluginSetup setup, node::Spool& spool,
                 node::ExecutorEvents& events)
      : plugin_(plugin), setup_(std::move(setup)), spool_(spool), events_(events) {}

  const ares_exec_plugin& plugin_;
  PluginSetup setup_;
  node::Spool& spool_;
  node::ExecutorEvents& events_;
  ares_exec_host host_{};
  void* self_ = nullptr;
  node::Moment now_{};                                // of the current call
  std::vector<AttemptReport>* collecting_ = nullptr;  // during list()
};

}  // namespace ares::exec
