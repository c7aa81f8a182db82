// OpenPlugin: an exec plugin that serves nodes of this process. The host's half of the bridge to the exec ABI.
// Owned by aresd, one per process; used on the thread of its nodes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exec/adapter/found_node.h"
#include "node/executor.h"
#include "node/records.h"
#include "plugin/exec_abi.h"

namespace ares::exec {

// A node that the host adds to a plugin.
struct PluginNode {
  std::string name;
  std::string spool;  // directory; empty = the node has none on disk
  std::string boot_id;
};

class OpenPlugin {
 public:
  // `plugin` passed check_exec_plugin; it and `nodes` outlive this. `options`: `key value` lines.
  static Result<std::unique_ptr<OpenPlugin>> open(const ares_exec_plugin& plugin,
                                                  std::string options, NodeEvents& nodes);
  ~OpenPlugin();
  OpenPlugin(const OpenPlugin&) = delete;
  OpenPlugin& operator=(const OpenPlugin&) = delete;

  // Serves the node until the result is destroyed, which must be before this is. launch() reads records from `spool`.
  Result<std::unique_ptr<node::Executor>> add_node(const PluginNode& node, node::Spool& spool,
                                                   node::ExecutorEvents& events);

  // Of all nodes. dispatch() must be called when the descriptor is readable (-1: there is none) and at the deadline.
  int event_fd() const;
  std::optional<BootTime> next_deadline() const;
  void dispatch(node::Moment now);

  // Whether the controller stores what attempts print, ExecutorEvents::output().
  void take_output(bool taken);

 private:
  class Attempts;  // of one node
  struct Served {
    node::ExecutorEvents* events = nullptr;
    std::vector<AttemptReport>* collecting = nullptr;  // during list()
  };

  OpenPlugin(const ares_exec_plugin& plugin, std::string options, NodeEvents& nodes)
      : plugin_(plugin), options_(std::move(options)), nodes_(nodes) {}
  Error error_of(const std::string& message) const;
  void changed(const ares_exec_report& report);
  void launch_failed(ares_exec_key key, std::uint64_t fence, std::int32_t result,
                     std::string cause);
  void node_changed(const ares_exec_found_node& node);
  void output(const ares_exec_output& part);

  const ares_exec_plugin plugin_;  // functions that the plugin's release does not have are null
  std::string options_;
  NodeEvents& nodes_;
  ares_exec_host host_{};
  void* self_ = nullptr;
  ares_exec_node next_ = 0;
  std::unordered_map<ares_exec_node, Served> served_;
  node::Moment now_{};  // of the current call
};

}  // namespace ares::exec
