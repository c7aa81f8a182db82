// What jobs have used, by association: TRES-seconds that decay by themselves. Charged when an attempt has let go of all it had.
// Owned by ClusterState; values. Any thread may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/accounts.h"

namespace ares {

// TRES-seconds in units of 2^-32, as two halves of 128 bits.
struct UsageUnits {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const UsageUnits&, const UsageUnits&) = default;
};

// Ranks are made as of the multiples of calc_period, so usage is kept in two parts: what had ended by the last of them, and what
// ended since.
struct UsageRow {
  std::string tres;  // "cpu", "mem" (MiB), "node", "gres/gpu", "gres/gpu:a100", "billing"
  UsageUnits settled;
  UsageUnits recent;
  friend bool operator==(const UsageRow&, const UsageRow&) = default;
};

struct AssociationUsage {
  AssociationId id;
  Time settled_at{};           // what had ended by then, and what it was worth then
  Time recent_at{};            // likewise of what ended since
  std::vector<UsageRow> rows;  // ascending by TRES
  friend bool operator==(const AssociationUsage&, const AssociationUsage&) = default;
};

}  // namespace ares
