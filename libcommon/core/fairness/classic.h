// Classic fair share: a factor for each user from shares and usage of all levels. Pure; any thread.
//
//   F = 2^(-UE / S / dampening),   UE = UA + (UE_parent - UA) * s / sum of s over the siblings
//
// UA is a node's part of all usage, S its part of all shares, s its own shares. UE and S of a node
// with Fairshare=parent are its parent's. (Source: Slurm's documentation; see tests/unit/fairness.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/fairness/tree.h"

namespace ares::core::fairness {

// F of one node; 0 without shares. `dampening` is at least 1.
double classic_factor(double effective_usage, double share, std::uint32_t dampening = 1);

struct ClassicNode {
  double share = 0;            // S
  double usage = 0;            // UA
  double effective_usage = 0;  // UE
  double factor = 0;           // F
};

// Results by node. `usage`: by node, in any unit, as returned by sum_up().
std::vector<ClassicNode> classic_fair_share(const AccountTree& tree,
                                            std::span<const std::uint64_t> usage,
                                            std::uint32_t dampening);

}  // namespace ares::core::fairness
