// filter(): which nodes a job may use at all, whatever is free on them.
// Pure; called once per shape of demand and pass.
#pragma once

#include <string>
#include <vector>

#include "core/sched/cluster_index.h"
#include "model/job.h"
#include "model/node.h"

namespace ares::core::sched {

struct Candidates {
  std::vector<NodeIndex> members;   // would do if they were up: in the partition, features, not -x
  std::vector<NodeIndex> usable;    // of these: up, registered, not one that failed to launch it
  std::vector<NodeIndex> fallback;  // usable and those that failed to launch it
  std::vector<NodeIndex> required;  // of -w, ascending
  std::string problem;  // why no node will ever do: a required node that is not a member
};

Candidates filter(const Job& job, const Partition& partition, ClusterIndex& index);

}  // namespace ares::core::sched
