// Shares of the nodes of a placement: tasks and GPUs are spread evenly.
#include <algorithm>

#include "base/saturating.h"
#include "core/sched/place/fit_nodes.h"
#include "core/sched/place/unrestricted_cpus.h"

namespace ares::core::sched {
namespace {

// Distributes `amount` as evenly as `limits` allow; the first shares get the remainder.
std::vector<std::int64_t> spread(std::int64_t amount, const std::vector<std::int64_t>& limits) {
  std::vector<std::int64_t> shares(limits.size(), 0);
  while (amount > 0) {
    std::int64_t open = 0;
    for (std::size_t i = 0; i < limits.size(); ++i) open += shares[i] < limits[i];
    if (open == 0) break;
    const std::int64_t step = std::max<std::int64_t>(amount / open, 1);
    for (std::size_t i = 0; i < limits.size() && amount > 0; ++i) {
      const std::int64_t add = std::min({step, limits[i] - shares[i], amount});
      shares[i] += add;
      amount -= add;
    }
  }
  return shares;
}

std::int64_t memory_of(const Demand& demand, const NodeOffer& offer, std::int64_t cpus,
                       std::int64_t tasks) {
  const std::int64_t asked = demand.memory.value();
  switch (rule_of(demand)) {
    case MemoryRule::none: return 0;
    case MemoryRule::per_node: return asked;
    case MemoryRule::per_cpu: return std::min(memory_of_cpus(demand, cpus), offer.total[kMemory]);
    case MemoryRule::per_task: return capped_product(asked, tasks);
    case MemoryRule::whole: return offer.total[kMemory];
  }
  return 0;
}

}  // namespace

std::size_t part_column(const TypedDemand& typed) {
  std::size_t column = kFirstGpu;
  while (typed.per_node[column] == 0) ++column;
  return column;
}

void charge(const TypedDemand& typed, const NodeOffer& offer, std::int64_t tasks,
            std::span<std::int64_t> out) {
  std::copy(typed.per_node.begin(), typed.per_node.end(), out.begin());
  std::int64_t& cpus = out[kCpus];
  cpus = typed.demand.exclusive ? offer.total[kCpus]
                                : std::max(cpus_of_tasks(typed.demand, tasks, offer.total),
                                           std::int64_t{typed.demand.min_cpus_per_node});
  if (typed.demand.cpu_share) out[*typed.demand.cpu_share] = cpus;
  if (typed.demand.attempts) out[*typed.demand.attempts] = 1;
  if (typed.demand.tmp_disk) out[*typed.demand.tmp_disk] = typed.demand.tmp_mebibytes;
  out[kMemory] = memory_of(typed.demand, offer, cpus, tasks);
  for (std::size_t column = kFirstGpu; column < typed.per_task.size(); ++column)
    out[column] =
        typed.demand.exclusive ? offer.total[column] : out[column] + tasks * typed.per_task[column];
}

Placement lay_out(const TypedDemand& typed, std::span<const Candidate> chosen) {
  std::vector<std::int64_t> limits;
  for (const Candidate& c : chosen) limits.push_back(c.tasks);
  const auto tasks = spread(
      std::max<std::int64_t>(typed.demand.tasks, static_cast<std::int64_t>(chosen.size())), limits);

  Placement placement;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const NodeOffer& offer = *chosen[i].offer;
    PlacedShare share{offer.node, static_cast<std::uint32_t>(tasks[i]),
                      Amounts(offer.total.size(), 0)};
    charge(typed, offer, tasks[i], share.amounts);
    if (typed.demand.gpu_part > 0)
      share.part = PlacedPart{part_column(typed), typed.demand.gpu_part};
    placement.push_back(std::move(share));
  }
  for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column) {
    // The shares of an exclusive job contain all GPUs of the nodes.
    if (typed.total[column] == 0 || typed.demand.exclusive) continue;
    std::vector<std::int64_t> free;
    for (const Candidate& c : chosen)
      free.push_back(c.offer->free[column] - typed.per_node[column]);
    const auto gpus = spread(typed.total[column], free);
    for (std::size_t i = 0; i < chosen.size(); ++i) placement[i].amounts[column] += gpus[i];
  }
  for (std::size_t i = 0; i < chosen.size(); ++i)
    count_unrestricted(typed.demand, chosen[i].offer->free, chosen[i].offer->total, placement[i]);
  return placement;
}

}  // namespace ares::core::sched
