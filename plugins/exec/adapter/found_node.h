// A node that an exec plugin has found, and the text in which the exec ABI carries its inventory.
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/cluster/resources.h"

namespace ares::exec {

struct FoundNode {
  std::string name;
  std::string identity;           // of the machine and its boot
  std::uint64_t incarnation = 0;  // grows with each new identity of the name
  Inventory inventory{};
  std::string problem{};  // why no job should start there now; empty: it may
  bool is_gone = false;   // its machine, with attempts: nothing will tell how they end
};

// Takes what is told of such nodes, and of the plugin itself; called on the host's only thread, during calls of the plugin.
class NodeEvents {
 public:
  virtual ~NodeEvents() = default;
  virtual void node_changed(const FoundNode& node) = 0;
  virtual void node_removed(const std::string& name, const std::string& why) = 0;

  // For the operator.
  virtual void say(const std::string& /*text*/) {}
  // The plugin cannot go on: the host ends.
  virtual void failed(const std::string& /*why*/) {}
  // Readable when the host is to end; -1: there is none.
  virtual int stop_fd() const { return -1; }
};

// `key value` lines: `cpus N`; `memory BYTES`; `feature NAME` for each; `gpu TYPE` for each, in the order of their
// indices; `gpu_topology TEXT`: the matrix of nvidia-smi; `cpu_thousandths N` of a node that counts its CPUs so, whose
// `cpus` are that amount rounded down, but at least 1.
std::string encode_inventory(const Inventory& inventory);

// Returns invalid_argument for a node without CPUs or memory, or a name that is not one.
Result<Inventory> decode_inventory(std::string_view text);

}  // namespace ares::exec
