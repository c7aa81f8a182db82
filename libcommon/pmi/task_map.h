// Which rank of a step runs on which node: what a process manager tells an MPI program, in the forms
// that MPICH reads. Plain data and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ares::pmi {

struct TaskMap {
  std::uint32_t size = 0;                                 // ranks of the step: 0 to size - 1
  std::vector<std::vector<std::uint32_t>> ranks_by_node;  // of each node of the step, ascending
  std::uint32_t this_node = 0;                            // index in ranks_by_node

  const std::vector<std::uint32_t>& local_ranks() const { return ranks_by_node[this_node]; }
  friend bool operator==(const TaskMap&, const TaskMap&) = default;
};

// Whether each rank runs on exactly one node, and each node has a rank. Whatever takes a TaskMap
// expects one that passed. invalid_argument.
Status check(const TaskMap& map);

// The index of its node for each rank.
std::vector<std::uint32_t> nodes_of_ranks(const TaskMap& map);

// The value of the key PMI_process_mapping, "(vector,(0,2,2))": blocks (first node, nodes, ranks on
// each), which MPICH repeats until all ranks have a node. Blocks are left out where that repetition
// gives the same.
std::string process_mapping(const TaskMap& map);

using Environment = std::vector<std::pair<std::string, std::string>>;

// What a local rank finds in its environment. `fd` is its end of the connection to the server. PMI_ID,
// PMI_PORT and PMI_SPAWNED must not be inherited from another process manager.
Environment environment(const TaskMap& map, std::uint32_t rank, int fd);

}  // namespace ares::pmi
