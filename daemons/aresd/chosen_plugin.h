// The exec plugin that a node's ares.yaml names, and what this machine lets it
// do for jobs. Made once by main().
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "os/job_slice.h"
#include "plugin/loader.h"

namespace ares::aresd {

struct Plugin {
  std::optional<plugin::LoadedExecPlugin> loaded;
  const ares_exec_plugin* table = nullptr;
  std::string options;
  bool can_freeze = false;
  std::string why_no_namespaces;  // empty: it makes them, or was told not to
  bool private_ipc = false;       // it tries to give each job a /dev/shm of its own
  std::string why_shared_ipc;     // why it cannot
  bool in_memory = false;
  std::string enforced;  // what the kernel holds its jobs to; empty = not known
  os::JobSlice slice;    // no places: it is the plugin's business
  double loss_rate = 0;  // fraction of messages lost in each direction
};

// `config`: for --config of a command that this process advises; empty = the
// default file.
// `cluster`: the name of the cluster.
Result<Plugin> choose_plugin(const config::NodeConfig& node, const std::string& config,
                             const std::string& cluster);

// Whether the plugin itself tells which nodes it serves.
bool finds_nodes(const config::NodeConfig& node);

// Whether jobs can have a /tmp of their own, if ares.yaml says so.
Status can_hide_tmp(const config::Config& config, const Plugin& plugin, const std::string& spool);

// Groups that jobs share with this process, by the reason.
void log_shared_groups(const os::JobSlice& slice);

}  // namespace ares::aresd
