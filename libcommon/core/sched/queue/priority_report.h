// The components of the priorities of waiting jobs, as printed by `aprio`. Pure; any thread.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/fairness/priority.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

// A waiting job in a partition with multifactor priorities.
struct PriorityLine {
  const Job* job = nullptr;              // of the state
  const Partition* partition = nullptr;  // of the state
  // The sort key: set by an operator, or the sum.
  std::uint32_t value = 0;
  bool set = false;  // by an operator
  fairness::Priority factors;
};

struct PriorityReport {
  // Ascending job, then the job's own order of partitions.
  std::vector<PriorityLine> lines;
  std::array<double, fairness::kFactors> weights{};
  bool any_multifactor = false;  // some partition uses multifactor
};

// Jobs that their own record blocks have no priority and no line. O(accounts + jobs).
PriorityReport priority_report(const ClusterState& state, const Policy& policy, Time now);

}  // namespace ares::core::sched
