#include "unit/fairness/tree.h"

namespace ares::core::fairness {

// Slurm's table says 5 for uD2, because with doubles 40/170 : 20/110 and 50/170 : 25/110 differ.
// Both are 22/17, so uD2 ties with uD3 and uDA3, and 7 is right.
const std::vector<Golden>& golden_tree() {
  constexpr auto kParent = std::nullopt;
  static const std::vector<Golden> rows{
      {user("u1", "", 10, 0), 21},
      {user("u2", "", 10, 10), 14},
      {account("aA", "", 40), 0},
      {account("aAA", "aA", 30), 0},
      {user("uAA1", "aAA", 1, 20), 13},
      {account("aAB", "aA", 10), 0},
      {user("uAB1", "aAB", 1, 25), 11},
      {user("uAB2", "aAB", 1, 0), 12},
      {account("aB", "", 60), 0},
      {account("aBA", "aB", 25), 0},
      {user("uBA1", "aBA", 1, 25), 15},
      {account("aBB", "aB", 35), 0},
      {user("uBB1", "aBB", 1, 0), 16},
      {account("aC", "", 0), 0},
      {user("uC1", "aC", 0, 30), 1},
      {account("aD", "", 50), 0},
      {user("uD1", "aD", kParent, 20), 10},
      {user("uD2", "aD", 40, 20), 7},
      {user("uD3", "aD", 50, 25), 7},
      {account("aDA", "aD", kParent), 0},
      {user("uDA1", "aDA", kParent, 10), 10},
      {user("uDA2", "aDA", 30, 10), 8},
      {user("uDA3", "aDA", 50, 25), 7},
      {account("aE", "", 10), 0},
      {user("aE1", "aE", 10, 0), 21},
      {user("aE2", "aE", 10, 0), 21},
      {account("aF", "", 20), 0},
      {user("uF1", "aF", 10, 0), 21},
      {user("uF2", "aF", 20, 0), 21},
      {account("aG", "", 8), 0},
      {user("uG1", "aG", 10, 10), 4},
      {account("aGA", "aG", 10), 0},
      {user("uGA1", "aGA", 20, 4), 4},
      {user("uGA2", "aGA", 20, 6), 2},
  };
  return rows;
}

// Few different shares and usages, so that ties are common.
std::vector<AccountRow> random_tree(std::mt19937_64& dice, std::size_t size) {
  std::vector<AccountRow> rows;
  std::vector<std::string> accounts{""};
  for (std::size_t i = 0; i < size; ++i) {
    const std::string& above = accounts[dice() % accounts.size()];
    std::optional<std::uint32_t> shares = static_cast<std::uint32_t>(dice() % 4);
    if (dice() % 8 == 0) shares.reset();
    if (dice() % 3 == 0) {
      const std::string name = "a" + std::to_string(i);
      rows.push_back(account(name, above, shares));
      accounts.push_back(name);
    } else {
      const std::uint64_t usage = dice() % 4 == 0 ? 0 : 1 + dice() % 4;
      rows.push_back(user("u" + std::to_string(i), above, shares, usage));
    }
  }
  return rows;
}

std::vector<std::uint64_t> usage_of(const AccountTree& tree, const std::vector<AccountRow>& rows,
                                    std::uint64_t scale) {
  std::vector<std::uint64_t> usage(tree.nodes().size());
  for (std::size_t i = 1; i < usage.size(); ++i) {
    const auto& node = tree.nodes()[i];
    if (node.user) usage[i] = rows[node.row].usage.at("billing") * scale;
  }
  tree.sum_up(usage);
  return usage;
}

}  // namespace ares::core::fairness
