// A small cluster for planning tests, built by hand: nodes, one partition, pending and running
// jobs.
// For the tests of core/sched only; not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sched/pass/plan.h"
#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

inline constexpr Time kNow{std::chrono::hours(400'000)};

class TestCluster {
 public:
  ClusterState state;
  Policy policy;

  // Adds a registered idle node to partition "main".
  void add_node(const std::string& name, std::uint32_t cpus = 4, Bytes memory = Bytes::mib(4000));
  void add_gpus(const std::string& name, const std::string& type, std::uint32_t count);
  Node node(const std::string& name) const;
  void put(Node node);
  Partition partition(const std::string& name = "main") const {
    return *state.partitions.find(name);
  }
  void put(Partition partition);

  // A pending job of one task; modify it and put() it. Ids count from 1 in the order of calls.
  Job job(JobSpec spec = {});
  static JobSpec spec(std::uint32_t tasks = 1, std::uint32_t nodes = 1);
  void put(Job job);
  JobKey submit(JobSpec spec) {
    Job made = job(std::move(spec));
    const JobKey key = made.key;
    put(std::move(made));
    return key;
  }

  Plan plan(Time now = kNow, Budget budget = {}) const {
    return core::plan(state, policy, budget, now);
  }

  // Changes the state as if the engine had accepted every start and the nodes had started the jobs
  // at `now`.
  void take(const Plan& plan, Time now);
  // Changes the state as if the engine had accepted the preemptions: victims are ending, and the
  // preempting jobs have claims.
  void evict(const Plan& plan, Time now);
  // Suspends a running job, by command or for a preempting job; resume() resumes it.
  void suspend(const JobKey& key, Time now, std::optional<JobKey> preempted_by = std::nullopt);
  void resume(const JobKey& key, Time now);
  // Ends the job and removes its charges.
  void end(const JobKey& key);

 private:
  void charge_cpus(const Job& job);

  std::uint64_t next_job_ = 1;
  std::uint64_t version_ = 100;
};

// The record that the start depends on: the job's own, or its array's.
JobKey record_of(const PlanGroup& group, const Start& start);
const Start* start_of(const Plan& plan, const JobKey& key);
const PendingInfo* pending_of(const Plan& plan, const JobKey& key);
std::vector<std::string> node_names(const ClusterState& state, const Start& start);

// Empty if every start of the plan fits into what the state has free and every share is valid;
// otherwise the error.
std::string over_commitment(const ClusterState& state, const Plan& plan);

}  // namespace ares::core::sched
