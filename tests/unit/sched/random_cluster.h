// Random clusters and jobs for the property tests of core/sched; small, so that jobs often compete
// for resources.
// Not thread-safe.
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {

// Adds one to eight nodes, some with GPUs, to partition "main".
void add_nodes(TestCluster& cluster, Random& dice);

// Sets strategies of the partition and, on some clusters, leaf switches of one to three nodes, or
// blocks.
void add_placement(TestCluster& cluster, Random& dice);

JobSpec random_spec(Random& dice);
void add_alternatives(JobSpec& spec, Random& dice);

// Submits a job or occasionally a gang, which may be incomplete.
void submit_random(TestCluster& cluster, Random& dice);

// Drains a node, removes it, adds it again, or removes a GPU from it.
void disturb(TestCluster& cluster, Random& dice);

struct RandomRun {
  std::function<JobSpec()> next_job;
  std::function<void()> before_plan{};
  std::function<void(const Plan&, Time)> on_plan{};  // before it is taken
  std::function<void()> after_start{};
};

// With a random kind of backfill, 30 jobs are submitted, one a minute. Each minute a plan is made and taken, and mostly a running job ended.
// Expects that no plan gives more than there is, and that no job waits for ever.
void expect_all_run(TestCluster& cluster, Random& dice, const RandomRun& run);

// The running jobs, ascending.
std::vector<JobKey> running(const TestCluster& cluster);

}  // namespace ares::core::sched
