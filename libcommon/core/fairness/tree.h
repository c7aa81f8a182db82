// AccountTree: the accounts and users of a Fairness as an array of nodes for the fair share
// formulas, built once for each tree. Owned by the code that computes ranks; immutable, any thread.
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
    TreeIndex parent = 0;                 // the root is its own parent
    TreeIndex first = 0, count = 0;       // children are adjacent
    std::optional<std::uint32_t> shares;  // none: the parent's (Fairshare=parent)
    bool user = false;
    std::uint32_t row = 0;  // index into `rows`; unused for the root
  };

  // Precondition: problem_of(rows) is empty.
  explicit AccountTree(const std::vector<AccountRow>& rows);

  // The root comes first, parents before children, siblings in the order of the rows.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Node> children(const Node& node) const {
    return std::span(nodes_).subspan(node.first, node.count);
  }
  std::uint32_t users() const { return users_; }

  // The user in that account; the user's first row if `account` is empty. None without such a row.
  std::optional<TreeIndex> find(std::string_view account, std::string_view user) const;

  // The user in exactly that account; the root's name is empty.
  std::optional<TreeIndex> find_in(std::string_view account, std::string_view user) const;

  // Adds the value of each node to all accounts above it. Sums saturate at 2^64 - 1.
  void sum_up(std::vector<std::uint64_t>& by_node) const;

 private:
  std::vector<Node> nodes_;
  std::uint32_t users_ = 0;
  std::unordered_map<std::string, TreeIndex> by_name_;  // "account\nuser"
  std::unordered_map<std::string, TreeIndex> by_user_;
};

// Each node's part of all shares in units of 2^-48, rounded down at each level; with
// Fairshare=parent its parent's part. Siblings with equal shares have equal parts.
std::vector<std::uint64_t> normalised_shares(const AccountTree& tree);

}  // namespace ares::core::fairness
