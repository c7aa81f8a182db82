// Baselines: schedulers that see single workers ("pods"), and no topology.
#pragma once

#include <optional>

#include "distributed/site.h"

namespace ares::bench {

struct PodRules {
  // Workers are placed one by one, as they come; else a job's workers all at once or not at all.
  bool one_by_one = true;
  // After so long without all of its workers a job gives back what it has and queues again; none: it never does.
  std::optional<Seconds> patience;
};

// Each worker goes to the node with the largest share of free GPUs, as the default of the well-known container scheduler does; those
// that fit nowhere wait, and those behind them do not.
Figures run_pods(const std::vector<Training>& jobs, const PodRules& rules, std::uint64_t seed);

}  // namespace ares::bench
