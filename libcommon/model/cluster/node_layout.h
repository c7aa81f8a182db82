// The nodes of an attempt in rank order, with their CPUs and tasks. All launches of one attempt
// share one object. Immutable once it is shared; any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ares {

struct NodeLayout {
  NodeLayout() = default;
  // All three vectors have equal length.
  NodeLayout(std::vector<std::string> names, std::vector<std::uint32_t> cpus,
             std::vector<std::uint32_t> tasks);

  std::vector<std::string> names;
  std::vector<std::uint32_t> cpus;
  std::vector<std::uint32_t> tasks;
  std::string list;  // the names as a hostlist
  friend bool operator==(const NodeLayout&, const NodeLayout&) = default;
};

}  // namespace ares
