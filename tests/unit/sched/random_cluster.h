// Random clusters and jobs for the property tests of core/sched: small, so that jobs are often in each other's way.
// Not thread-safe.
#pragma once

#include <vector>

#include "base/random.h"
#include "unit/sched/cluster.h"

namespace ares::core::sched {

// Puts one to eight nodes, some with GPUs, into partition "main".
void add_nodes(TestCluster& cluster, Random& dice);

// Strategies of the partition, and on some clusters leaf switches of one to three nodes, or blocks, between its nodes.
void add_placement(TestCluster& cluster, Random& dice);

JobSpec random_spec(Random& dice);
void add_alternatives(JobSpec& spec, Random& dice);

// Submits one, or now and then a gang, of which somebody may be missing.
void submit_random(TestCluster& cluster, Random& dice);

// Drains a node, takes it away, brings it back, or takes a GPU out of it.
void disturb(TestCluster& cluster, Random& dice);

// Those that run, ascending.
std::vector<JobKey> running(const TestCluster& cluster);

}  // namespace ares::core::sched
