// The plugin's half of the bridge between the exec ABI (plain C) and node::Executor: a plugin only
// needs to implement Backend, and an Executor for each of its nodes. Owned by the plugin's instance;
// called on the host's only thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exec/adapter/found_node.h"
#include "node/executor.h"
#include "plugin/exec_abi.h"

namespace ares::exec {

// A node that the host adds.
struct AddedNode {
  std::string name, spool, boot_id;
};

// Script and environment, for plugins that need more than the StepSpec. Valid during launch().
struct LaunchTexts {
  std::string_view script, environment;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Serves one more node, until the result is destroyed; the backend outlives it. `events` and `texts` outlive it too.
  virtual Result<std::unique_ptr<node::Executor>> add_node(AddedNode node,
                                                           node::ExecutorEvents& events,
                                                           const LaunchTexts& texts) = 0;

  // Of all nodes.
  virtual int event_fd() const = 0;  // -1: only deadlines
  virtual std::optional<BootTime> next_deadline() const = 0;
  virtual void dispatch(node::Moment now) = 0;
  // Whether the controller stores what attempts print, ExecutorEvents::output(). Before the first call it does not.
  virtual void take_output(bool) {}
};

// `options`: `key value` lines. `nodes` outlives the backend.
using BackendFactory = Result<std::unique_ptr<Backend>> (*)(std::string options, NodeEvents& nodes);

// For a plugin's open(): makes the backend and connects it to the host's callbacks.
void* open_backend(const ares_exec_host* host, char* error, std::size_t error_size,
                   BackendFactory factory);

// The table of a plugin with these two functions; all others call its Backend.
ares_exec_plugin backend_table(const char* name, std::int32_t (*can_freeze)(),
                               void* (*open)(const ares_exec_host*, char*, std::size_t));

}  // namespace ares::exec
