// What jobs have used, by association: TRES-seconds that decay by themselves. Charged when an attempt has let go of all it had.
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

// Ranks are made as of the multiples of calc_period, so usage is kept in two parts: what had ended by the last of them, and what
// ended since.
struct UsageRow {
  // "cpu", "mem" (MiB), "node", "gres/gpu", "gres/gpu:a100", "license/matlab", "billing", and "wall": the jobs' own time
  std::string tres;
  UsageUnits settled;
  UsageUnits recent;
  friend bool operator==(const UsageRow&, const UsageRow&) = default;
};

// Numbers of associations, QOS and wckeys are given from one sequence, so that usage of all is kept under them; 1 is that of QOS normal,
// for nobody is charged to the root account itself.
inline AssociationId usage_id(const Qos& qos) {
  return AssociationId(qos.id.value());
}

// Of the account itself: what users used who are in it no more. The root account's is 0, as 1 is taken.
inline AssociationId usage_id(const Account& account) {
  return account.parent.empty() ? AssociationId(0) : account.id;
}

// Of an association, of a QOS, of a wckey, or of an account itself.
struct AssociationUsage {
  AssociationId id;
  Time settled_at{};           // what had ended by then, and what it was worth then
  Time recent_at{};            // likewise of what ended since
  Time since{};                // what was used before counts no more: it was reset; 0 = never
  std::vector<UsageRow> rows;  // ascending by TRES
  friend bool operator==(const AssociationUsage&, const AssociationUsage&) = default;
};

// Add or take away so much, as it was worth `at`.
struct UsageCorrection {
  AssociationId id;
  std::string tres;
  UsageUnits amount;
  bool take = false;
  Time at{};
  friend bool operator==(const UsageCorrection&, const UsageCorrection&) = default;
};

}  // namespace ares
