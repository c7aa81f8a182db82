#include "core/topology/pcie_tree.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ares::core::topology {
namespace {

constexpr std::array<Path, 5> kLevels = {Path::pix, Path::pxb, Path::phb, Path::node, Path::sys};

// Disjoint sets of devices (union-find).
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t device) {
    while (parent_[device] != device) device = parent_[device] = parent_[parent_[device]];
    return device;
  }
  // The lower device number represents the joined group.
  void join(std::size_t a, std::size_t b) {
    a = find(a), b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// The level that follows from this pair alone, or none.
std::optional<Path> known_path(const Matrix& matrix, std::size_t a, std::size_t b) {
  const std::optional<Link>& link = matrix.link(a, b);
  if (link && link->nvlinks == 0) return link->path;
  if (a >= matrix.gpus.size() || b >= matrix.gpus.size()) return std::nullopt;
  return share_numa(matrix.gpus[a], matrix.gpus[b]) == true ? std::optional(Path::node)
                                                            : std::nullopt;
}

void join_level(const Matrix& matrix, Path level, Groups& groups) {
  for (std::size_t a = 0; a < matrix.devices(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const std::optional<Path> path = known_path(matrix, a, b);
      if (level == Path::sys || (path && *path <= level)) groups.join(a, b);
    }
}

GpuSet gpu_of(const Matrix& matrix, std::size_t device) {
  return device < matrix.gpus.size() ? GpuSet::of(matrix.gpus[device].number) : GpuSet();
}

// Root node of a group so far; none for a single device that has no node yet.
using Top = std::optional<std::size_t>;

PcieNode node_of(const Matrix& matrix, Path level, const std::vector<std::size_t>& members,
                 const std::vector<Top>& tops, const std::vector<PcieNode>& nodes) {
  PcieNode node;
  node.level = level;
  for (const std::size_t member : members) {
    if (tops[member]) {
      node.children.push_back(*tops[member]);
      node.gpus = node.gpus | nodes[*tops[member]].gpus;
      continue;
    }
    node.leaves = node.leaves | gpu_of(matrix, member);
    if (member >= matrix.gpus.size()) node.nics.push_back(member - matrix.gpus.size());
  }
  node.gpus = node.gpus | node.leaves;
  return node;
}

}  // namespace

std::optional<bool> share_numa(const MatrixGpu& a, const MatrixGpu& b) {
  if (!a.numa.empty() && !b.numa.empty()) return a.numa == b.numa;
  if (!a.cpus.empty() && !b.cpus.empty()) return a.cpus == b.cpus;
  return std::nullopt;
}

PcieTree::PcieTree(const Matrix& matrix) : above_(kMaxGpus, 0) {
  Groups groups(matrix.devices());
  std::vector<Top> tops(matrix.devices());      // by representative of the group
  std::vector<std::size_t> names(tops.size());  // representatives of the groups of the level below
  std::iota(names.begin(), names.end(), std::size_t{0});
  for (const Path level : kLevels) {
    join_level(matrix, level, groups);
    std::vector<std::vector<std::size_t>> members(tops.size());
    for (const std::size_t name : names) members[groups.find(name)].push_back(name);
    std::vector<std::size_t> remaining;
    for (std::size_t name = 0; name < members.size(); ++name) {
      if (members[name].empty()) continue;
      remaining.push_back(name);
      const bool lone_machine = level == Path::sys && nodes_.empty();
      if (members[name].size() < 2 && !lone_machine) continue;
      nodes_.push_back(node_of(matrix, level, members[name], tops, nodes_));
      tops[name] = nodes_.size() - 1;
    }
    names = std::move(remaining);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const std::size_t child : nodes_[i].children) nodes_[child].parent = i;
    for (const unsigned gpu : nodes_[i].leaves) above_[gpu] = i;
  }
}

Path PcieTree::path(unsigned a, unsigned b) const {
  std::size_t at = above_[a];
  while (!nodes_[at].gpus.contains(b)) at = *nodes_[at].parent;
  return nodes_[at].level;
}

}  // namespace ares::core::topology
