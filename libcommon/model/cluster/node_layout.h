// The nodes of an attempt in rank order, with their CPUs, tasks and GPUs. All launches of one attempt
// share one object. Immutable once it is shared; any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ares {

struct NodeLayout {
  NodeLayout() = default;
  // The first three vectors have equal length; `gpus` too, or it is empty: no node has any.
  NodeLayout(std::vector<std::string> names, std::vector<std::uint32_t> cpus,
             std::vector<std::uint32_t> tasks, std::vector<std::uint32_t> gpus = {});

  std::vector<std::string> names;
  std::vector<std::uint32_t> cpus;
  std::vector<std::uint32_t> tasks;
  std::vector<std::uint32_t> gpus;  // of the attempt on each; empty: none, or not known
  std::string list;                 // the names as a hostlist
  friend bool operator==(const NodeLayout&, const NodeLayout&) = default;
};

}  // namespace ares
