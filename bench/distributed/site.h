// The machine and the jobs of the comparison, and the run time of a job on given nodes. The same
// for every scheduler. Plain data and pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace ares::bench {

inline constexpr unsigned kJobs = 20, kWorkers = 4;

struct SiteNode {
  unsigned leaf;  // leaf switch
  bool fast;      // an h100, else an a100
  unsigned gpus;
};

// Eight nodes, two on each of four leaf switches: 32 h100 and 16 a100.
inline const std::vector<SiteNode>& site() {
  static const std::vector<SiteNode> nodes = {{0, true, 8},  {0, true, 8},  {1, true, 8},
                                              {1, true, 8},  {2, false, 4}, {2, false, 4},
                                              {3, false, 4}, {3, false, 4}};
  return nodes;
}
inline constexpr unsigned kGpus = 48;

// All jobs are submitted at the same time.
struct Training {
  Seconds work{};        // on h100s with all workers on one node
  unsigned gpus = 1;     // of each worker
  double talking = 0.3;  // share of `work` in which workers exchange data
};

inline std::vector<Training> trainings(std::uint64_t seed) {
  Random dice(seed);
  constexpr unsigned kSizes[] = {1, 1, 2, 2, 4};
  std::vector<Training> all;
  for (unsigned i = 0; i < kJobs; ++i)
    all.push_back(
        {Seconds(dice.between(1800, 7200)), kSizes[dice.below(5)], 0.1 + 0.4 * dice.unit()});
  return all;
}

// Factor by which a job takes longer on these nodes. The slowest worker sets the pace: an a100 computes at half the
// speed. Communication has full speed within a node, half of it below one leaf switch, and a quarter across the spine.
inline double stretch(double talking, const std::vector<unsigned>& nodes) {
  double compute = 1, travel = 1;
  for (const unsigned a : nodes) {
    if (!site()[a].fast) compute = 2;
    for (const unsigned b : nodes)
      if (a != b) travel = std::max(travel, site()[a].leaf == site()[b].leaf ? 2.0 : 4.0);
  }
  return (1 - talking) * compute + talking * travel;
}

// Results of one run.
struct Figures {
  double to_train = 0;  // mean seconds from submission to end of the jobs that ended
  double makespan = 0;  // seconds to the end of the last job
  double training = 0;  // GPU seconds in which all workers of a job ran
  double held = 0;      // GPU seconds held by workers that waited for other workers
  unsigned ended = 0;   // jobs; if fewer than kJobs, the others are in a deadlock
};

}  // namespace ares::bench
