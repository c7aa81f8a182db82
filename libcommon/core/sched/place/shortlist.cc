#include "core/sched/place/shortlist.h"

#include <algorithm>

#include "core/sched/place/fit_nodes.h"

namespace ares::core::sched {
namespace {

// Task counts are exact up to this number per node. No node has more CPUs.
constexpr std::uint32_t kMaxCounted = 1u << 16;

std::uint64_t tightness(std::int32_t spare, std::uint32_t tasks) {
  return std::uint64_t{static_cast<std::uint32_t>(spare)} << 32 | tasks;
}

}  // namespace

Capacity::Capacity(const Demand& demand)
    : demand_(demand),
      typed_(demand, std::nullopt),
      most_(demand.max_nodes == 1
                ? demand.tasks
                : std::max(demand.tasks, demand.min_nodes) - demand.min_nodes + 1),
      looks_at_total_(demand.exclusive || demand.overcommit ||
                      rule_of(demand) == MemoryRule::whole) {}

std::uint32_t Capacity::of(std::span<const std::int64_t> free,
                           std::span<const std::int64_t> total) const {
  const std::uint32_t tasks =
      task_capacity(demand_, typed_.per_node, {0, free, total, false}, typed_.per_task);
  if (demand_.max_nodes == 1) return tasks >= most_ ? most_ : 0;
  return std::min(tasks, most_);
}

std::int64_t Capacity::spare_gpus(std::span<const std::int64_t> free) const {
  std::int64_t spare = 0;
  for (std::size_t c = kFirstGpu; c < typed_.per_node.size(); ++c)
    spare += free[c] - typed_.per_node[c];
  return spare;
}

bool Shortlist::suits(const Demand& demand) {
  return !demand.wants_any_gpu() && demand.gpus_total.empty() && !demand.unknown_gpu_type &&
         demand.gpu_part == 0 && demand.gpu_constraint.none() && !demand.tags &&
         demand.node_counts.empty() && !demand.as_many_nodes && !demand.limited() &&
         !demand.preferred && !demand.plugin_class && !demand.access.exclusive_user;
}

Shortlist::Shortlist(const Demand& demand, std::size_t expected)
    : demand_(demand),
      capacity_(demand),
      by_tightness_(demand.strategy == PlacementStrategy::binpack &&
                    (!demand.network || demand.max_nodes == 1)),
      knows_spare_(demand.gpu_end == kFirstGpu) {
  nodes_.reserve(expected);
}

void Shortlist::add(NodeIndex node, std::span<const std::int64_t> free,
                    std::span<const std::int64_t> total) {
  knows_spare_ = true;
  const std::uint32_t tasks = capacity_.of(free, total);
  if (tasks == 0) return;
  largest_ = std::max(largest_, tasks);
  nodes_.push_back({node, tasks, static_cast<std::int32_t>(capacity_.spare_gpus(free))});
}

void Shortlist::add(NodeIndex node, std::uint32_t tasks) {
  if (tasks == 0) return;
  largest_ = std::max(largest_, tasks);
  nodes_.push_back({node, tasks, 0});
}

Shortlist::Size Shortlist::size() const {
  std::vector<std::uint32_t> of_tasks(std::size_t{largest_} + 1, 0);
  for (const Offered& one : nodes_) ++of_tasks[one.tasks];
  std::int64_t left = demand_.tasks;
  std::size_t nodes = 0;
  for (std::uint32_t tasks = largest_; tasks > 0; --tasks) {
    const std::int64_t here = of_tasks[tasks];
    const std::int64_t tasks_need = left > 0 ? (left + tasks - 1) / tasks : 0;
    const std::int64_t need =
        std::max(tasks_need, std::int64_t{demand_.min_nodes} - static_cast<std::int64_t>(nodes));
    const std::int64_t taken = std::min(need, here);
    nodes += static_cast<std::size_t>(taken);
    left -= taken * tasks;
    if (need <= here) return nodes <= demand_.max_nodes ? Size{nodes, tasks} : Size{};
  }
  return {};
}

std::vector<NodeIndex> Shortlist::best() const {
  std::vector<NodeIndex> all;
  if (largest_ > kMaxCounted) {
    for (const Offered& one : nodes_) all.push_back(one.node);
    return all;
  }
  const Size size = this->size();
  if (size.nodes == 0) return all;
  const auto count = static_cast<std::uint32_t>(size.nodes);
  const std::uint32_t even = (demand_.tasks + count - 1) / count;
  const auto takers = std::count_if(nodes_.begin(), nodes_.end(),
                                    [&](const Offered& one) { return one.tasks >= even; });
  if (static_cast<std::size_t>(takers) > size.nodes && by_tightness_ && knows_spare_)
    return tightest(even, size.nodes);
  // If too few nodes can take an even share, the largest nodes are used as they are.
  const std::uint32_t least =
      static_cast<std::size_t>(takers) >= size.nodes ? even : std::min(even, size.least);
  for (const Offered& one : nodes_)
    if (one.tasks >= least) all.push_back(one.node);
  return all;
}

std::vector<NodeIndex> Shortlist::tightest(std::uint32_t tasks, std::size_t count) const {
  std::vector<std::uint64_t> order;
  order.reserve(nodes_.size());
  for (const Offered& one : nodes_)
    if (one.tasks >= tasks) order.push_back(tightness(one.spare, one.tasks));
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::nth_element(order.begin(), last, order.end());
  std::vector<NodeIndex> nodes;
  for (const Offered& one : nodes_)
    if (one.tasks >= tasks && tightness(one.spare, one.tasks) <= *last) nodes.push_back(one.node);
  return nodes;
}

}  // namespace ares::core::sched
