// Random clusters and jobs for the property tests of core/sched; small, so that jobs often compete
// for resources.
// Not thread-safe.
#pragma once

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

// The running jobs, ascending.
std::vector<JobKey> running(const TestCluster& cluster);

}  // namespace ares::core::sched
