// The plugin's half of the bridge between the exec ABI (plain C) and node::Executor: a plugin only
// needs to implement Backend. Owned by the plugin's instance; called on the host's only thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "node/executor.h"
#include "plugin/exec_abi.h"

namespace ares::exec {

class Backend : public node::Executor {
 public:
  virtual int event_fd() const = 0;  // -1: only deadlines
  virtual std::optional<BootTime> next_deadline() const = 0;
  virtual void dispatch(node::Moment now) = 0;
};

struct HostInfo {
  std::string node, spool, boot_id, options;
};

// Script and environment, for plugins that need more than the StepSpec. Valid during launch().
struct LaunchTexts {
  std::string_view script, environment;
};
using BackendFactory = Result<std::unique_ptr<Backend>> (*)(HostInfo host,
                                                            node::ExecutorEvents& events,
                                                            const LaunchTexts& texts);

// For a plugin's open(): makes the backend and connects it to the host's callbacks.
void* open_backend(const ares_exec_host* host, char* error, std::size_t error_size,
                   BackendFactory factory);

// The table of a plugin with these two functions; all others call its Backend.
ares_exec_plugin backend_table(const char* name, std::int32_t (*can_freeze)(),
                               void* (*open)(const ares_exec_host*, char*, std::size_t));

}  // namespace ares::exec
