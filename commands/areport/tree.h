// Sums over a tree of accounts: the usage of an account's own users and of all accounts below it.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ares::areport {

inline constexpr const char* kRoot = "root";

// Child to parent. An account without an entry is below the root, unless it is the root.
using Parents = std::map<std::string, std::string>;

// TRES-seconds by TRES.
using Amounts = std::map<std::string, std::int64_t>;

struct AccountSum {
  std::string account;
  unsigned depth = 0;  // 0 for the root.
  Amounts amounts;     // Of the account and all accounts below it.
  friend bool operator==(const AccountSum&, const AccountSum&) = default;
};

// Returns the root and each account that has usage or an account with usage below it; parents
// before children, siblings by name. A cycle of parents is broken by placing its last account below
// the root. `own` is the usage of each account itself.
std::vector<AccountSum> sum_up(const std::map<std::string, Amounts>& own, const Parents& parents);

}  // namespace ares::areport
