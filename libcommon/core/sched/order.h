// order(): the queue of a pass, first come first. One entry for each pending record and partition
// it may use. Pure. Ties are broken by job key, so the order never depends on how records are
// stored.
#pragma once

#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "model/state.h"

namespace ares::core::sched {

struct QueueEntry {
  const Job* job = nullptr;
  const Partition* partition = nullptr;  // null: the partition it names does not exist
  std::uint32_t choice = 0;              // position of the partition in the job's list
};

// By partition tier (high first), priority (high first), nice (low first), age (eligible time),
// key, then the user's order of partitions.
std::vector<QueueEntry> order(const ClusterState& state);

}  // namespace ares::core::sched
