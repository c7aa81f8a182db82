// A partition's bounds on the time and nodes of a job, without those that the job's QOS lifts
// (PartitionTimeLimit, PartitionMaxNodes, PartitionMinNodes). Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/accounts/account_directory.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core {

struct PartitionBounds {
  std::optional<Seconds> max_time;         // none = no bound
  std::optional<std::uint32_t> max_nodes;  // none = no bound
  std::uint32_t min_nodes = 0;
};
PartitionBounds bounds_of(const Accounting& records, const JobSpec& spec,
                          const Partition& partition);

}  // namespace ares::core
