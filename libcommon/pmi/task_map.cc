#include "pmi/task_map.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace ares::pmi {
namespace {

struct Block {
  std::uint32_t node;   // the first
  std::uint32_t nodes;  // consecutive ones
  std::uint32_t ranks;  // on each
};

std::vector<Block> blocks_of(std::span<const std::uint32_t> nodes) {
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < nodes.size();) {
    std::size_t end = at;
    while (end < nodes.size() && nodes[end] == nodes[at]) ++end;
    const auto ranks = static_cast<std::uint32_t>(end - at);
    if (!blocks.empty() && blocks.back().ranks == ranks &&
        blocks.back().node + blocks.back().nodes == nodes[at])
      ++blocks.back().nodes;
    else
      blocks.push_back({nodes[at], 1, ranks});
    at = end;
  }
  return blocks;
}

// The shortest length of which the sequence is a repetition, the last one perhaps in part
// (failure function of Knuth, Morris and Pratt).
std::size_t period(std::span<const std::uint32_t> nodes) {
  std::vector<std::size_t> border(nodes.size(), 0);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && nodes[i] != nodes[length]) length = border[length - 1];
    border[i] = nodes[i] == nodes[length] ? length + 1 : 0;
  }
  return nodes.size() - border.back();
}

}  // namespace

Status check(const TaskMap& map) {
  const auto wrong = [](std::string what) {
    return fail(ErrorCode::invalid_argument, "map of tasks: " + std::move(what));
  };
  if (map.size == 0) return wrong("no ranks");
  if (map.this_node >= map.ranks_by_node.size())
    return wrong("node " + std::to_string(map.this_node) + " is not one of its " +
                 std::to_string(map.ranks_by_node.size()) + " nodes");
  std::vector<bool> seen(map.size, false);
  std::size_t count = 0;
  for (std::size_t node = 0; node < map.ranks_by_node.size(); ++node) {
    const auto& ranks = map.ranks_by_node[node];
    if (ranks.empty()) return wrong("node " + std::to_string(node) + " has no rank");
    if (!std::ranges::is_sorted(ranks))
      return wrong("the ranks of node " + std::to_string(node) + " are not in order");
    for (const std::uint32_t rank : ranks) {
      if (rank >= map.size)
        return wrong("rank " + std::to_string(rank) + " of " + std::to_string(map.size));
      if (seen[rank]) return wrong("rank " + std::to_string(rank) + " runs twice");
      seen[rank] = true;
      ++count;
    }
  }
  if (count != map.size) return wrong(std::to_string(map.size - count) + " ranks run on no node");
  return {};
}

std::vector<std::uint32_t> nodes_of_ranks(const TaskMap& map) {
  std::vector<std::uint32_t> nodes(map.size);
  for (std::uint32_t node = 0; node < map.ranks_by_node.size(); ++node)
    for (const std::uint32_t rank : map.ranks_by_node[node]) nodes[rank] = node;
  return nodes;
}

std::string process_mapping(const TaskMap& map) {
  const std::vector<std::uint32_t> nodes = nodes_of_ranks(map);
  std::vector<Block> blocks = blocks_of(nodes);
  // MPICH repeats from the first block that begins with node 0.
  if (blocks.front().node == 0) {
    auto repeated = blocks_of(std::span(nodes).first(period(nodes)));
    if (repeated.size() < blocks.size()) blocks = std::move(repeated);
  }
  std::string text = "(vector";
  for (const Block& block : blocks)
    text += ",(" + std::to_string(block.node) + "," + std::to_string(block.nodes) + "," +
            std::to_string(block.ranks) + ")";
  return text + ")";
}

Environment environment(const TaskMap& map, std::uint32_t rank, int fd) {
  const auto& local = map.local_ranks();
  const auto at = std::ranges::lower_bound(local, rank) - local.begin();
  return {{"PMI_FD", std::to_string(fd)},
          {"PMI_RANK", std::to_string(rank)},
          {"PMI_SIZE", std::to_string(map.size)},
          {"MPI_LOCALRANKID", std::to_string(at)},
          {"MPI_LOCALNRANKS", std::to_string(local.size())}};
}

}  // namespace ares::pmi
