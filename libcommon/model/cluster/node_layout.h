// The nodes of an attempt in rank order, and what each gives to it. The same for all of them, so the launches of one attempt have
// one in common. Immutable once it is shared; any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ares {

struct NodeLayout {
  NodeLayout() = default;
  // Of equal lengths.
  NodeLayout(std::vector<std::string> names, std::vector<std::uint32_t> cpus,
             std::vector<std::uint32_t> tasks);

  std::vector<std::string> names;
  std::vector<std::uint32_t> cpus;
  std::vector<std::uint32_t> tasks;
  std::string list;  // the names as a hostlist
  friend bool operator==(const NodeLayout&, const NodeLayout&) = default;
};

}  // namespace ares
