// Tests: fit_layout, fit_nodes
// The shortlist, compared with the choice among all nodes.
#include "core/sched/place/shortlist.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ares::core::sched {
namespace {

struct Machine {
  std::vector<Amounts> free, total;
};

Machine random_machine(Random& dice, std::size_t stride) {
  Machine machine;
  for (std::uint32_t i = 0; i < 1 + dice.upto(30); ++i) {
    Amounts total = {4 + dice.upto(12), 1000 * (1 + dice.upto(8))};
    for (std::size_t c = kFirstGpu; c < stride; ++c)
      total.push_back(dice.percent(50) ? dice.upto(8) : 0);
    Amounts free = total;
    if (dice.percent(80))
      for (std::int64_t& amount : free) amount = dice.upto(static_cast<std::uint32_t>(amount));
    machine.total.push_back(std::move(total));
    machine.free.push_back(std::move(free));
  }
  return machine;
}

Demand random_demand(Random& dice, std::size_t stride) {
  Demand demand;
  demand.min_nodes = dice.percent(50) ? 1 : 1 + dice.upto(4);
  demand.tasks = demand.min_nodes + (dice.percent(70) ? dice.upto(30) : 0);
  demand.max_nodes = dice.percent(20) ? demand.min_nodes + dice.upto(2) : demand.tasks;
  demand.max_nodes = std::max(demand.max_nodes, demand.min_nodes);
  demand.as_many_nodes = demand.max_nodes > demand.min_nodes && demand.tasks <= demand.min_nodes;
  demand.cpus_per_task = 1 + dice.upto(2);
  if (dice.percent(20)) demand.tasks_per_node = 1 + dice.upto(3);
  if (dice.percent(20)) demand.min_cpus_per_node = dice.upto(6);
  if (dice.percent(10)) demand.exclusive = true;
  demand.memory = Bytes(dice.upto(1500));
  constexpr MemoryRule kRules[] = {MemoryRule::none, MemoryRule::per_node, MemoryRule::per_cpu,
                                   MemoryRule::per_task, MemoryRule::whole};
  demand.memory_rule = kRules[dice.upto(4)];
  if (stride > kFirstGpu && dice.percent(50))
    demand.gpus_per_node = {{kFirstGpu + dice.upto(1), 1 + dice.upto(3)}};
  if (stride > kFirstGpu && dice.percent(20)) demand.gpus_per_task = {{kFirstGpu, 1}};
  demand.gpu_end = stride;
  demand.gpu_rows = gpu_rows_of(demand);
  if (dice.percent(30)) demand.strategy = PlacementStrategy::spread;
  return demand;
}

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
