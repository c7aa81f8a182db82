// What the priorities of waiting jobs consist of: what `aprio` prints. Pure; any thread.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/fairness/priority.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

// A waiting job in a partition that orders by multifactor.
struct PriorityLine {
  const Job* job = nullptr;              // of the state
  const Partition* partition = nullptr;  // likewise
  std::uint32_t value = 0;               // what it sorts by: an operator's word, or the sum
  bool set = false;                      // by an operator
  fairness::Priority factors;
};

struct PriorityReport {
  std::vector<PriorityLine> lines;  // ascending job, then its own order of partitions
  std::array<double, fairness::kFactors> weights{};
  bool any_multifactor = false;  // some partition orders so
};

// Jobs that something of their own keeps back have no priority, and no line. O(accounts + jobs).
PriorityReport priority_report(const ClusterState& state, const Policy& policy, Time now);

}  // namespace ares::core::sched
