// Trees for the tests of fair share: the golden one of 21 users, and random ones.
// For tests only; not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/fairness/tree.h"

namespace ares::core::fairness {

inline AccountRow account(std::string name, std::string parent,
                          std::optional<std::uint32_t> shares) {
  return {std::move(name), std::move(parent), "", shares, 0, {}};
}
inline AccountRow user(std::string name, std::string in, std::optional<std::uint32_t> shares,
                       std::uint64_t usage = 0) {
  return {std::move(in), "", std::move(name), shares, 0, {{"billing", usage}}};
}

struct Golden {
  AccountRow row;
  std::uint32_t rank = 0;  // of 21; 0 for accounts
};
const std::vector<Golden>& golden_tree();

std::vector<AccountRow> random_tree(std::mt19937_64& dice, std::size_t size);

// Usage by node, from the rows, times `scale`.
std::vector<std::uint64_t> usage_of(const AccountTree& tree, const std::vector<AccountRow>& rows,
                                    std::uint64_t scale = 1);

}  // namespace ares::core::fairness
