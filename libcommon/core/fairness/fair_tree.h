// Fair Tree: users ranked level by level, so that nobody of an account that is served too well comes before anybody of a
// sibling that is not. Pure; any thread.
//
// The level fair share of a node is S/U: S its shares by those of its siblings, U its usage by its parent's. Zero shares make
// zero, no usage makes infinity, and a user who has as much as the parent is infinite as well. An account that has as much as
// its parent disappears: its children become siblings of its brothers. Accounts that tie are merged: their children are sorted
// together. (Source: the description of Slurm's Fair Tree algorithm; the walk is written out in fair_tree.cc.)
//
// Fractions are compared as cross products of integers: shares below 2^32, their sums below 2^64, usage below 2^64 make
// numerators below 2^96 and denominators below 2^128, products below 2^224. Nothing is rounded, nothing overflows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/fairness/tree.h"

namespace ares::core::fairness {

// By node: of a user the rank, from tree.users() for the first down to 1; the factor is rank / users. Those who tie have the
// same one. Accounts have 0. `usage` is by node as sum_up() leaves it, in any unit.
std::vector<std::uint32_t> fair_tree(const AccountTree& tree, std::span<const std::uint64_t> usage);

}  // namespace ares::core::fairness
