// Tests: place/fit
// The choice of one node that passes over nodes by their free amounts, compared with the choice that reads all.
#include <gtest/gtest.h>

#include "core/sched/place/fit.h"
#include "unit/sched/random_demand.h"

namespace ares::core::sched {
namespace {

Demand random_demand_of_one_node(Random& dice, std::size_t stride) {
  Demand demand = random_demand(dice, stride);
  demand.min_nodes = demand.max_nodes = 1;
  demand.tasks = 1 + dice.upto(3);
  demand.as_many_nodes = false;
  demand.overcommit = dice.percent(10);
  demand.gpus_per_task.clear();
  if (stride > kFirstGpu && dice.percent(30)) {
    demand.gpus_per_node.clear();
    demand.any_gpus_per_node = 1 + dice.upto(2);
  }
  demand.gpu_rows = gpu_rows_of(demand);
  return demand;
}

TEST(SingleNodeFit, PassesOverNoNodeThatIsBetter) {
  int placed = 0, passed_over = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random dice(seed);
    const std::size_t stride = dice.percent(50) ? kFirstGpu : kFirstGpu + 2;
    const Machine machine = random_machine(dice, stride);
    const Demand demand = random_demand_of_one_node(dice, stride);
    ASSERT_TRUE(SingleNodeFit::suits(demand));
    SingleNodeFit all(demand, stride), some(demand, stride);
    bool fits = false;
    for (NodeIndex at = 0; at < machine.free.size(); ++at) {
      const NodeOffer offer{at, machine.free[at], machine.total[at], false};
      fits = all.fits(offer) || fits;
      all.add(offer);
      if (some.is_no_better(offer.free))
        ++passed_over;
      else
        some.add(offer);
    }
    const auto expected = all.placement(), chosen = some.placement();
    ASSERT_EQ(expected.has_value(), fits) << "seed " << seed;
    ASSERT_EQ(expected.has_value(), chosen.has_value()) << "seed " << seed;
    if (!expected) continue;
    ++placed;
    ASSERT_EQ(expected->front().node, chosen->front().node) << "seed " << seed;
    ASSERT_EQ(expected->front().amounts, chosen->front().amounts) << "seed " << seed;
  }
  EXPECT_GT(placed, 10'000);
  EXPECT_GT(passed_over, 10'000);
}

}  // namespace
}  // namespace ares::core::sched
