// QueueEntry: a pending record in one partition that it may use. A plain value; any thread.
#pragma once

#include <cstdint>

#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core::sched {

struct QueueEntry {
  const Job* job = nullptr;
  const Partition* partition = nullptr;  // null: the named partition does not exist
  std::uint32_t choice = 0;              // position of the partition in the job's list
};

}  // namespace ares::core::sched
