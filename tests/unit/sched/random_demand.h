// Nodes with random amounts and demands, for tests of the choice of nodes without a cluster.
#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "core/sched/index/demand.h"

namespace ares::core::sched {

struct Machine {
  std::vector<Amounts> free, total;
};

inline Machine random_machine(Random& dice, std::size_t stride) {
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

inline Demand random_demand(Random& dice, std::size_t stride) {
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

}  // namespace ares::core::sched
