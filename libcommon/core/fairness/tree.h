// AccountTree: the accounts and users of a Fairness as a tree of numbers, made once for each tree of the configuration; the
// formulas of fair share work on it. Owned by whoever ranks; immutable, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/accounts/fairness.h"

namespace ares::core::fairness {

using TreeIndex = std::uint32_t;

class AccountTree {
 public:
  struct Node {
    TreeIndex parent = 0;                 // the root's is itself
    TreeIndex first = 0, count = 0;       // its children lie together
    std::optional<std::uint32_t> shares;  // none: as much as the parent
    bool user = false;
    std::uint32_t row = 0;  // of the plain tree; the root's means nothing
  };

  // Precondition: problem_of(rows) finds nothing.
  explicit AccountTree(const std::vector<AccountRow>& rows);

  // The root first, parents before children, siblings in the order of the rows.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Node> children(const Node& node) const {
    return std::span(nodes_).subspan(node.first, node.count);
  }
  std::uint32_t users() const { return users_; }

  // The user in that account; of a user who names no account, the first in the order of the rows. Nothing for others.
  std::optional<TreeIndex> find(std::string_view account, std::string_view user) const;

  // Whose account is that very one; the root's name is empty.
  std::optional<TreeIndex> find_in(std::string_view account, std::string_view user) const;

  // Of each node, from that of users: accounts get the sum of what lies below. Sums stop at 2^64 - 1.
  void sum_up(std::vector<std::uint64_t>& by_node) const;

 private:
  std::vector<Node> nodes_;
  std::uint32_t users_ = 0;
  std::unordered_map<std::string, TreeIndex> by_name_;  // "account\nuser"
  std::unordered_map<std::string, TreeIndex> by_user_;
};

// Each node's part of the whole by shares, in units of 2^-48, rounded down at every level; who has as much as the parent gets
// the parent's. Equal positions have equal parts.
std::vector<std::uint64_t> normalised_shares(const AccountTree& tree);

}  // namespace ares::core::fairness
