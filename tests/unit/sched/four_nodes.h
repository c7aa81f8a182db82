// The cluster of the plan() tests, and the reason of a job in a plan. Not thread-safe.
#pragma once

#include "core/sched/pass/plan.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {

// Four nodes of 4 CPUs and 4000 MiB, 500 MiB a CPU by default.
inline TestCluster four_nodes() {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4"}) cluster.add_node(name);
  Partition main = cluster.partition();
  main.default_memory_per_cpu = Bytes::mib(500);
  cluster.put(main);
  return cluster;
}

inline Reason reason_of(const Plan& plan, const JobKey& key) {
  const PendingInfo* info = pending_of(plan, key);
  return info ? info->reason : Reason::none;
}

}  // namespace ares::core::sched
