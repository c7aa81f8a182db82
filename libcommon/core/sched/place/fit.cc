#include "core/sched/place/fit.h"

#include <algorithm>

#include "core/sched/place/fit_nodes.h"

namespace ares::core::sched {
namespace {

std::int64_t useful_gpus(const Typed& typed, const Room& room) {
  std::int64_t sum = 0;
  for (std::size_t c = kFirstGpu; c < typed.total.size(); ++c)
    sum += std::min(typed.total[c], room.free[c] - typed.per_node[c]);
  return sum;
}

std::int64_t spare_gpus(const Typed& typed, const Room& room) {
  std::int64_t sum = 0;
  for (std::size_t c = kFirstGpu; c < typed.per_node.size(); ++c)
    sum += room.free[c] - typed.per_node[c];
  return sum - useful_gpus(typed, room);
}

std::optional<Placement> fit_typed(const Typed& typed, std::span<const Room> rooms) {
  std::vector<Candidate> candidates;
  candidates.reserve(rooms.size());
  std::size_t required = 0;
  for (const Room& room : rooms) {
    const std::int64_t tasks = task_capacity(typed.demand, typed.per_node, room, typed.per_task);
    if (tasks == 0) {
      if (room.required) return std::nullopt;
      continue;
    }
    required += room.required ? 1 : 0;
    candidates.push_back({&room, tasks, useful_gpus(typed, room), spare_gpus(typed, room)});
  }
  // A demand for GPUs in total is placed where there are some, unless a node was named.
  if (typed.total_count > 0 && !typed.demand.tags)
    std::erase_if(candidates, [&](const Candidate& c) {
      return c.gpus == 0 && !c.room->required && typed.total_count >= typed.demand.min_nodes;
    });
  const auto chosen = choose_nodes(typed, std::move(candidates), required);
  if (!chosen) return std::nullopt;
  return lay_out(typed, *chosen);
}

std::optional<Placement> fit_rooms(const Demand& demand, std::span<const Room> rooms) {
  if (demand.unknown_gpu_type || rooms.size() < demand.min_nodes) return std::nullopt;
  const std::size_t stride = rooms.front().total.size();
  if (!demand.wants_any_gpu()) return fit_typed(Typed(demand, stride, std::nullopt), rooms);
  // Of one node the best, whatever its type; several nodes get the first type that there is enough of.
  const bool any_required =
      std::any_of(rooms.begin(), rooms.end(), [](const Room& room) { return room.required; });
  if (OneNode::suits(demand) && !any_required) {
    OneNode one(demand, stride);
    for (const Room& room : rooms) one.offer(room);
    return one.placement();
  }
  for (std::size_t column = kFirstGpu; column < stride; ++column)
    if (auto placement = fit_typed(Typed(demand, stride, column), rooms)) return placement;
  return std::nullopt;
}

// On nodes with what the job prefers if they hold it, else on any.
std::optional<Placement> fit_preferred(const Demand& demand, std::span<const Room> rooms) {
  if (demand.preferred) {
    std::vector<Room> some;
    std::copy_if(rooms.begin(), rooms.end(), std::back_inserter(some), [&](const Room& room) {
      return room.required || demand.preferred->test(room.node);
    });
    if (some.size() < rooms.size())
      if (auto placement = fit_rooms(demand, some)) return placement;
  }
  return fit_rooms(demand, rooms);
}

}  // namespace

bool OneNode::suits(const Demand& demand) {
  return demand.max_nodes == 1 && demand.any_gpus_total == 0 && demand.any_gpus_per_task == 0 &&
         demand.gpus_total.empty() && demand.gpus_per_task.empty() && !demand.tags &&
         demand.limits.segment <= 1 && demand.gpu_constraint.none();
}

OneNode::OneNode(const Demand& demand, std::size_t stride)
    : demand_(demand), take_(looks_at_take(demand.strategy) ? stride : 0, 0) {
  if (demand.any_gpus_per_node == 0) types_.emplace_back(demand, stride, std::nullopt);
  for (std::size_t c = kFirstGpu; c < stride && demand.any_gpus_per_node > 0; ++c)
    types_.emplace_back(demand, stride, c);
}

void OneNode::offer(const Room& room) {
  for (std::size_t type = 0; type < types_.size(); ++type) {
    const Typed& typed = types_[type];
    const std::int64_t tasks = task_capacity(demand_, typed.per_node, room);
    if (tasks < demand_.tasks) continue;
    std::int64_t spare = 0;
    for (std::size_t c = kFirstGpu; c < typed.per_node.size(); ++c)
      spare += room.free[c] - typed.per_node[c];
    if (looks_at_take(demand_.strategy)) charge(typed, room, demand_.tasks, take_);
    const std::size_t column = demand_.gpu_part > 0 ? part_column(typed) : 0;
    const Score here = score(demand_, {&room, tasks, spare, take_, column});
    if (best_ && score_ <= here) continue;
    best_ = room;
    best_type_ = type;
    best_tasks_ = tasks;
    score_ = here;
  }
}

std::optional<Placement> OneNode::placement() const {
  if (!best_ || demand_.unknown_gpu_type || demand_.min_nodes > 1) return std::nullopt;
  const Candidate chosen{&*best_, best_tasks_, 0, 0};
  return lay_out(types_[best_type_], std::span(&chosen, 1));
}

std::optional<Placement> fit(const Demand& demand, std::span<const Room> rooms) {
  if (!demand.tags || demand.tags->alternatives == 0) return fit_preferred(demand, rooms);
  for (std::size_t i = 0; i < demand.tags->alternatives; ++i) {
    const auto meets = [&](const Room& room) {
      return (demand.tags->of_node[room.node] >> i & 1) != 0;
    };
    std::vector<Room> some;
    std::copy_if(rooms.begin(), rooms.end(), std::back_inserter(some), meets);
    if (std::any_of(rooms.begin(), rooms.end(),
                    [&](const Room& room) { return room.required && !meets(room); }))
      continue;
    if (auto placement = fit_preferred(demand, some)) return placement;
  }
  return std::nullopt;
}

}  // namespace ares::core::sched
