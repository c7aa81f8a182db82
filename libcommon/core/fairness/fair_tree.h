// Fair Tree: users are ranked level by level. All users of an account with a lower level fair share
// come after all users of its siblings with a higher one. Pure; any thread.
//
// Level fair share of a node: S/U, its part of its siblings' shares by its part of their usage; 0
// without shares, infinite without usage or for users with Fairshare=parent. Such an account is
// replaced by its children. Accounts that tie are merged: their children are sorted together.
// (Source: Slurm's documentation of Fair Tree; fair_tree.cc has the walk as pseudocode.)
//
// Fractions are compared as cross products of integers: shares below 2^32, their sums below 2^64, usage below 2^64 make
// numerators below 2^96 and denominators below 2^128, products below 2^224. Nothing is rounded, nothing overflows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/fairness/tree.h"

namespace ares::core::fairness {

// By node: the rank of a user, from tree.users() (first) down to 1; its factor is rank / users.
// Ties share a rank. Accounts have 0. `usage`: by node, in any unit, as returned by sum_up().
std::vector<std::uint32_t> fair_tree(const AccountTree& tree, std::span<const std::uint64_t> usage);

}  // namespace ares::core::fairness
