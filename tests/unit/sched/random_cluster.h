// Random clusters and jobs for the property tests of core/sched: small, so that jobs are often in each other's way.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "unit/sched/cluster.h"

namespace ares::core::sched {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(engine_() % (most + 1));
  }
  bool chance(std::uint32_t percent) { return upto(99) < percent; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

// Puts one to eight nodes, some with GPUs, into partition "main".
void add_nodes(TestCluster& cluster, Dice& dice);

// Strategies of the partition, and on some clusters leaf switches of one to three nodes, or blocks, between its nodes.
void add_placement(TestCluster& cluster, Dice& dice);

JobSpec random_spec(Dice& dice);

// Those that run, ascending.
std::vector<JobKey> running(const TestCluster& cluster);

}  // namespace ares::core::sched
