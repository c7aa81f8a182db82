// Tests: fit_layout, fit_nodes
// The shortlist, compared with the choice among all nodes.
#include "core/sched/place/shortlist.h"

#include <gtest/gtest.h>

#include "unit/sched/random_demand.h"

namespace ares::core::sched {
namespace {

TEST(Shortlist, ContainsTheNodesChosenFromAll) {
  int placed = 0, shorter = 0, wide = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Random dice(seed);
    const std::size_t stride = dice.percent(50) ? kFirstGpu : kFirstGpu + 2;
    const Machine machine = random_machine(dice, stride);
    const Demand demand = random_demand(dice, stride);
    if (!Shortlist::suits(demand)) continue;
    std::vector<NodeOffer> offers;
    Shortlist shortlist(demand, machine.free.size());
    const bool by_tasks = stride == kFirstGpu && dice.percent(30);
    for (NodeIndex at = 0; at < machine.free.size(); ++at) {
      offers.push_back({at, machine.free[at], machine.total[at], false});
      if (by_tasks)
        shortlist.add(at, shortlist.capacity().of(machine.free[at], machine.total[at]));
      else
        shortlist.add(at, machine.free[at], machine.total[at]);
    }
    const auto expected = fit(demand, offers);
    const std::vector<NodeIndex> best = shortlist.best();
    std::vector<NodeOffer> some;
    for (const NodeIndex at : best) some.push_back(offers[at]);
    ASSERT_EQ(expected.has_value(), !best.empty()) << "seed " << seed;
    if (!expected) continue;
    const auto chosen = fit(demand, some);
    ASSERT_TRUE(chosen) << "seed " << seed;
    ASSERT_EQ(chosen->size(), expected->size()) << "seed " << seed;
    for (std::size_t i = 0; i < expected->size(); ++i) {
      ASSERT_EQ((*chosen)[i].node, (*expected)[i].node) << "seed " << seed;
      ASSERT_EQ((*chosen)[i].amounts, (*expected)[i].amounts) << "seed " << seed;
    }
    ++placed;
    shorter += best.size() < shortlist.offered() ? 1 : 0;
    wide += expected->size() > 1 ? 1 : 0;
  }
  EXPECT_GT(placed, 3000);
  EXPECT_GT(shorter, 1000);
  EXPECT_GT(wide, 500);
}

}  // namespace
}  // namespace ares::core::sched
