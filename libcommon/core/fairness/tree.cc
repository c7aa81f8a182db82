#include "core/fairness/tree.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/fairness/wide.h"

namespace ares::core::fairness {
namespace {

std::string full_name(std::string_view account, std::string_view user) {
  std::string name(account);
  name += '\n';
  name += user;
  return name;
}

}  // namespace

AccountTree::AccountTree(const std::vector<AccountRow>& rows) {
  // Row numbers by parent account, in input order; "" is the root.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> below;
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    below[rows[i].user.empty() ? rows[i].parent : rows[i].account].push_back(i);

  nodes_.reserve(rows.size() + 1);
  nodes_.push_back({});
  for (TreeIndex at = 0; at < nodes_.size(); ++at) {
    if (nodes_[at].user) continue;
    const auto found = below.find(at == 0 ? std::string_view() : rows[nodes_[at].row].account);
    if (found == below.end()) continue;
    nodes_[at].first = static_cast<TreeIndex>(nodes_.size());
    nodes_[at].count = static_cast<TreeIndex>(found->second.size());
    for (const std::uint32_t row : found->second)
      nodes_.push_back({at, 0, 0, rows[row].shares, !rows[row].user.empty(), row});
  }

  std::vector<TreeIndex> node_of(rows.size());
  for (TreeIndex at = 1; at < nodes_.size(); ++at) node_of[nodes_[at].row] = at;
  by_name_.reserve(rows.size());
  by_user_.reserve(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    by_name_.emplace(full_name(rows[i].account, rows[i].user), node_of[i]);
    if (rows[i].user.empty()) continue;
    ++users_;
    by_user_.emplace(rows[i].user, node_of[i]);
  }
}

std::optional<TreeIndex> AccountTree::find(std::string_view account, std::string_view user) const {
  const auto& names = account.empty() ? by_user_ : by_name_;
  const auto found = names.find(account.empty() ? std::string(user) : full_name(account, user));
  if (found == names.end()) return std::nullopt;
  return found->second;
}

std::optional<TreeIndex> AccountTree::find_in(std::string_view account,
                                              std::string_view user) const {
  const auto found = by_name_.find(full_name(account, user));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

void AccountTree::sum_up(std::vector<std::uint64_t>& by_node) const {
  for (std::size_t i = nodes_.size(); i-- > 1;)
    by_node[nodes_[i].parent] = capped_sum(by_node[nodes_[i].parent], by_node[i]);
}

std::vector<std::uint64_t> normalised_shares(const AccountTree& tree) {
  const auto nodes = tree.nodes();
  std::vector<std::uint64_t> part(nodes.size());
  part[0] = std::uint64_t{1} << 48;
  for (TreeIndex at = 0; at < nodes.size(); ++at) {
    std::uint64_t sum = 0;
    for (const auto& child : tree.children(nodes[at])) sum += child.shares.value_or(0);
    for (TreeIndex i = nodes[at].first; i < nodes[at].first + nodes[at].count; ++i) {
      if (!nodes[i].shares)
        part[i] = part[at];
      else if (sum > 0)
        part[i] = static_cast<std::uint64_t>(U128{part[at]} * *nodes[i].shares / sum);
    }
  }
  return part;
}

}  // namespace ares::core::fairness
