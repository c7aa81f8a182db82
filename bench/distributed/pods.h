// Baselines: schedulers that see single workers ("pods") and no topology.
#pragma once

#include <optional>

#include "distributed/site.h"

namespace ares::bench {

struct PodRules {
  // true: workers are placed one by one as they come; false: all workers of a job at once or none.
  bool one_by_one = true;
  // After this time without all workers a job releases its GPUs and queues again; nullopt: never.
  std::optional<Seconds> patience;
};

// Each worker goes to the node with the largest share of free GPUs, as with the default of a
// well-known container scheduler. Workers that fit nowhere wait, but do not block those after them.
Figures run_pods(const std::vector<Training>& jobs, const PodRules& rules, std::uint64_t seed);

}  // namespace ares::bench
