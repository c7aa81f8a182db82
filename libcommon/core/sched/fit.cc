#include "core/sched/fit.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/sched/fit_nodes.h"

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

Typed typed_as(const Demand& demand, std::size_t stride, std::optional<std::size_t> any_column) {
  Typed typed{demand, Amounts(stride, 0), Amounts(stride, 0), Amounts(stride, 0), 0};
  for (const auto& [column, count] : demand.gpus_per_node) typed.per_node[column] += count;
  for (const auto& [column, count] : demand.gpus_total) typed.total[column] += count;
  for (const auto& [column, count] : demand.gpus_per_task) typed.per_task[column] += count;
  if (any_column) {
    typed.per_node[*any_column] += demand.any_gpus_per_node;
    typed.total[*any_column] += demand.any_gpus_total;
    typed.per_task[*any_column] += demand.any_gpus_per_task;
  }
  typed.total_count = std::accumulate(typed.total.begin(), typed.total.end(), std::int64_t{0});
  return typed;
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
  if (!demand.wants_any_gpu()) return fit_typed(typed_as(demand, stride, std::nullopt), rooms);
  for (std::size_t column = kFirstGpu; column < stride; ++column)
    if (auto placement = fit_typed(typed_as(demand, stride, column), rooms)) return placement;
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

std::uint32_t task_capacity(const Demand& demand, const Amounts& gpus, const Room& room,
                            std::span<const std::int64_t> per_task) {
  if (room.free[kCpus] < std::int64_t{demand.min_cpus_per_node}) return 0;
  if (demand.exclusive && room.free[kCpus] != room.total[kCpus]) return 0;
  for (std::size_t column = kFirstGpu; column < gpus.size(); ++column)
    if (room.free[column] < gpus[column]) return 0;

  std::int64_t tasks = room.free[kCpus] / demand.cpus_per_task;
  for (std::size_t column = kFirstGpu; column < per_task.size(); ++column)
    if (per_task[column] > 0)
      tasks = std::min(tasks, (room.free[column] - gpus[column]) / per_task[column]);
  const std::int64_t memory = demand.memory.value();
  switch (rule_of(demand)) {
    case MemoryRule::none: break;
    case MemoryRule::per_node:
      if (room.free[kMemory] < memory) return 0;
      break;
    case MemoryRule::per_cpu:
      tasks = std::min(tasks, room.free[kMemory] / memory / demand.cpus_per_task);
      break;
    case MemoryRule::per_task: tasks = std::min(tasks, room.free[kMemory] / memory); break;
    case MemoryRule::whole:
      if (room.free[kMemory] != room.total[kMemory] || room.total[kMemory] == 0) return 0;
      break;
  }
  if (demand.tasks_per_node > 0) tasks = std::min<std::int64_t>(tasks, demand.tasks_per_node);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(tasks, 0, std::numeric_limits<std::uint32_t>::max()));
}

bool OneNode::suits(const Demand& demand) {
  return demand.max_nodes == 1 && !demand.wants_any_gpu() && demand.gpus_total.empty() &&
         demand.gpus_per_task.empty() && !demand.tags && demand.limits.segment <= 1 &&
         demand.gpu_constraint.none();
}

OneNode::OneNode(const Demand& demand, std::size_t stride)
    : demand_(demand), typed_(typed_as(demand, stride, std::nullopt)), take_(stride, 0) {}

void OneNode::offer(const Room& room) {
  const Amounts& gpus = typed_.per_node;
  const std::int64_t tasks = task_capacity(demand_, gpus, room);
  if (tasks < demand_.tasks) return;
  std::int64_t spare = 0;
  for (std::size_t c = kFirstGpu; c < gpus.size(); ++c) spare += room.free[c] - gpus[c];
  if (looks_at_take(demand_.strategy)) charge(typed_, room, demand_.tasks, take_);
  const Score here = score(demand_, {&room, tasks, spare, take_});
  if (best_ && score_ <= here) return;
  best_ = room;
  score_ = here;
}

std::optional<Placement> OneNode::placement() const {
  if (!best_ || demand_.unknown_gpu_type) return std::nullopt;
  return fit(demand_, std::span(&*best_, 1));
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
