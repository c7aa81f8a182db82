// Sums over a tree of accounts: what an account's users held, and with it what all accounts below it did.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ares::areport {

inline constexpr const char* kRoot = "root";

// Child to parent. Who is not in it is below the root, unless it is the root.
using Parents = std::map<std::string, std::string>;

// TRES-seconds by TRES.
using Amounts = std::map<std::string, std::int64_t>;

struct AccountSum {
  std::string account;
  unsigned depth = 0;  // of the root 0
  Amounts amounts;     // of itself and all below
  friend bool operator==(const AccountSum&, const AccountSum&) = default;
};

// The root, and each account that has something or lies above one that has, each before those below it, siblings by name. Parents that
// make a ring are taken to be below the root where the ring is closed. `own` is what each account has by itself.
std::vector<AccountSum> sum_up(const std::map<std::string, Amounts>& own, const Parents& parents);

}  // namespace ares::areport
