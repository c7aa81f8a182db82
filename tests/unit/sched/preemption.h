// A cluster of two partitions on the same nodes, in which jobs of "high" preempt jobs of "main".
// For tests; not thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "unit/sched/cluster.h"

namespace ares::core::sched {

inline void add_tiers(TestCluster& cluster, PreemptMode mode = PreemptMode::requeue) {
  Partition main = cluster.partition();
  main.tier = 1;
  main.preempt_mode = mode;
  cluster.put(main);
  Partition high = main;
  high.name = "high";
  high.is_default = false;
  high.tier = 2;
  high.preempt_mode = PreemptMode::off;
  cluster.put(high);
}

// Adds a job that has run since `started` on these nodes, with `cpus` CPUs of each.
inline JobKey run(TestCluster& cluster, const std::vector<std::string>& nodes, std::uint32_t cpus,
                  Time started = kNow - std::chrono::hours(1),
                  const std::string& partition = "main",
                  std::optional<Seconds> limit = std::chrono::hours(24)) {
  JobSpec spec = TestCluster::spec(static_cast<std::uint32_t>(nodes.size()) * cpus,
                                   static_cast<std::uint32_t>(nodes.size()));
  spec.partitions = {partition};
  spec.time_limit = limit;
  Job job = cluster.job(spec);
  Plan plan;
  PlanGroup group;
  group.jobs.emplace_back(job.key, job.version);
  Start start{job.key, partition, limit, {}, {}};
  for (const std::string& name : nodes) {
    const Node node = cluster.node(name);
    NodeShare share;
    share.node = node.id;
    share.cpus = cpus;
    share.memory = Bytes::mib(100);
    share.tasks = cpus;
    share.incarnation = node.incarnation;
    start.nodes.push_back(share);
  }
  group.starts.push_back(start);
  plan.groups.push_back(group);
  const JobKey key = job.key;
  cluster.put(std::move(job));
  cluster.take(plan, started);
  return key;
}

inline JobSpec high_spec(std::uint32_t tasks, std::uint32_t nodes = 1) {
  JobSpec spec = TestCluster::spec(tasks, nodes);
  spec.partitions = {"high"};
  spec.time_limit = std::chrono::hours(1);
  return spec;
}

inline const ProposedClaim* claim_of(const Plan& plan, const JobKey& key) {
  for (const PlanGroup& group : plan.groups)
    for (const ProposedClaim& claim : group.claims)
      if (claim.key == key) return &claim;
  return nullptr;
}

inline std::vector<JobKey> victims_of(const Plan& plan, const JobKey& key) {
  std::vector<JobKey> keys;
  if (const ProposedClaim* claim = claim_of(plan, key))
    for (const AttemptKey& victim : claim->claim.victims) keys.push_back(victim.job);
  return keys;
}

}  // namespace ares::core::sched
