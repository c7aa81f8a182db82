// Decaying TRES-seconds by association, charged when an attempt has released all its resources.
// Owned by ClusterState; values. Any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/accounts/accounts.h"

namespace ares {

// TRES-seconds in units of 2^-32, as two halves of 128 bits.
struct UsageUnits {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const UsageUnits&, const UsageUnits&) = default;
};

// Fair-share ranks are computed at multiples of calc_period. Usage is therefore kept in two parts:
// of attempts that ended before the last multiple, and of those that ended since.
struct UsageRow {
  // "cpu", "mem" (MiB), "node", "gres/gpu:a100", "license/matlab", "billing", "wall" (run time)
  std::string tres;
  UsageUnits settled;
  UsageUnits recent;
  friend bool operator==(const UsageRow&, const UsageRow&) = default;
};

// Ids of associations, QOS and wckeys come from one sequence, so their usage is kept in one map. Id
// 1 is QOS normal: the root account shares that number but is not charged under it.
inline AssociationId usage_id(const Qos& qos) {
  return AssociationId(qos.id.value());
}

// Usage of the account itself, left by users that were removed from it. The root account uses 0.
inline AssociationId usage_id(const Account& account) {
  return account.parent.empty() ? AssociationId(0) : account.id;
}

// Usage of one association, QOS, wckey or account.
struct AssociationUsage {
  AssociationId id;
  Time settled_at{};           // `settled` is the decayed value at this time
  Time recent_at{};            // likewise for `recent`
  Time since{};                // time of the last reset: earlier usage does not count; 0 = never
  std::vector<UsageRow> rows;  // ascending by TRES
  friend bool operator==(const AssociationUsage&, const AssociationUsage&) = default;
};

// Adds or subtracts an amount, given as its decayed value at time `at`.
struct UsageCorrection {
  AssociationId id;
  std::string tres;
  UsageUnits amount;
  bool take = false;
  Time at{};
  friend bool operator==(const UsageCorrection&, const UsageCorrection&) = default;
};

}  // namespace ares
