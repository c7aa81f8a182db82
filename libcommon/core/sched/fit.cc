#include "core/sched/fit.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/saturating.h"

namespace ares::core::sched {
namespace {

// A demand whose untyped GPUs have been given a type.
struct Typed {
  const Demand& demand;
  Amounts per_node;  // GPU columns only; CPU and memory stay zero
  Amounts total;
  Amounts per_task;
  std::int64_t total_count = 0;
};

struct Candidate {
  const Room* room = nullptr;
  std::int64_t tasks = 0;       // capacity
  std::int64_t gpus = 0;        // it can add to the total
  std::int64_t spare_gpus = 0;  // free GPUs that would stay unused
};

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

std::uint64_t tag_of(const Demand& demand, const Candidate& c) {
  return demand.tags ? demand.tags->of_node[c.room->node] : 0;
}

std::uint64_t count_bit(const Demand& demand, std::size_t count) {
  return std::uint64_t{1} << (demand.tags->alternatives + count);
}

bool meets_counts(const Demand& demand, std::span<const Candidate> chosen) {
  if (!demand.tags) return true;
  for (std::size_t i = 0; i < demand.tags->counts.size(); ++i) {
    const auto meeting = std::count_if(chosen.begin(), chosen.end(), [&](const Candidate& c) {
      return (tag_of(demand, c) & count_bit(demand, i)) != 0;
    });
    if (static_cast<std::uint64_t>(meeting) < demand.tags->counts[i]) return false;
  }
  return true;
}

// Brings the first candidates that the counts need to the front, in their order; behind the
// required ones. A node that meets several unmet counts comes before one that meets fewer. Exact
// where no node meets two counts; else the usual greedy cover.
void counted_first(const Demand& demand, std::vector<Candidate>& all) {
  if (!demand.tags || demand.tags->counts.empty()) return;
  std::vector<std::int64_t> missing(demand.tags->counts.begin(), demand.tags->counts.end());
  const auto useful = [&](const Candidate& c) {
    int meets = 0;
    for (std::size_t i = 0; i < missing.size(); ++i)
      meets += missing[i] > 0 && (tag_of(demand, c) & count_bit(demand, i)) ? 1 : 0;
    return meets;
  };
  const auto chosen = [&](const Candidate& c) {
    for (std::size_t i = 0; i < missing.size(); ++i)
      missing[i] -= tag_of(demand, c) & count_bit(demand, i) ? 1 : 0;
  };
  std::size_t front = 0;
  while (front < all.size() && all[front].room->required) chosen(all[front++]);
  for (; front < all.size(); ++front) {
    auto best = all.end();
    int most = 0;
    for (auto c = all.begin() + static_cast<std::ptrdiff_t>(front); c != all.end(); ++c) {
      if (const int meets = useful(*c); meets > most) {
        most = meets;
        best = c;
      }
      if (most == static_cast<int>(missing.size())) break;
    }
    if (best == all.end()) return;
    chosen(*best);
    std::rotate(all.begin() + static_cast<std::ptrdiff_t>(front), best, best + 1);
  }
}

bool covers(const Typed& typed, std::span<const Candidate> chosen) {
  std::int64_t tasks = 0;
  for (const Candidate& c : chosen) tasks += c.tasks;
  if (tasks < typed.demand.tasks || !meets_counts(typed.demand, chosen)) return false;
  for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column) {
    std::int64_t left = typed.total[column];
    for (const Candidate& c : chosen)
      left -= std::min(left, c.room->free[column] - typed.per_node[column]);
    if (left > 0) return false;
  }
  return true;
}

// How candidates are ranked when only feasibility counts: by GPUs, by tasks, by the scarcer of the two, or so many by GPUs that
// there are enough of these and the rest by tasks.
enum class Roomiest : std::uint8_t { gpus, tasks, both, enough_gpus };

void sort_roomiest(const Typed& typed, std::vector<Candidate>& all, Roomiest by) {
  const auto rank = [&](const Candidate& c) {
    const std::int64_t gpus = c.gpus * std::int64_t{typed.demand.tasks};
    const std::int64_t tasks = c.tasks * std::max<std::int64_t>(typed.total_count, 1);
    switch (by) {
      case Roomiest::enough_gpus:
      case Roomiest::gpus: return std::tuple(!c.room->required, -gpus, -tasks, c.room->node);
      case Roomiest::tasks: return std::tuple(!c.room->required, -tasks, -gpus, c.room->node);
      case Roomiest::both: break;
    }
    return std::tuple(!c.room->required, -std::min(gpus, tasks), -std::max(gpus, tasks),
                      c.room->node);
  };
  std::sort(all.begin(), all.end(),
            [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  if (by == Roomiest::enough_gpus) {
    std::int64_t gpus = 0;
    auto rest = all.begin();
    while (rest != all.end() && (rest->room->required || gpus < typed.total_count))
      gpus += (rest++)->gpus;
    by = Roomiest::tasks;
    std::sort(rest, all.end(),
              [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  }
  counted_first(typed.demand, all);
}

// The numbers of nodes that may be given, best first.
std::vector<std::size_t> sizes(const Demand& demand, std::size_t low, std::size_t high) {
  std::vector<std::size_t> out;
  if (demand.node_counts.empty()) {
    if (demand.as_many_nodes) return {high};
    for (std::size_t n = low; n <= high; ++n) out.push_back(n);
    return out;
  }
  for (const std::uint32_t n : demand.node_counts)
    if (n >= low && n <= high) out.push_back(n);
  std::reverse(out.begin(), out.end());
  return out;
}

// How many nodes to take: the fewest that can hold everything; the most where one task a node is
// enough; of given numbers the largest. The roomiest come first: feasibility only. Exact unless GPUs
// are asked for in total over several nodes, which would be a knapsack: there four rankings are
// tried.
std::optional<std::size_t> how_many(const Typed& typed, std::vector<Candidate>& all,
                                    std::size_t required) {
  const std::size_t low = std::max<std::size_t>(typed.demand.min_nodes, required);
  const std::size_t high = std::min<std::size_t>(typed.demand.max_nodes, all.size());
  if (low > high) return std::nullopt;
  for (const Roomiest by :
       {Roomiest::tasks, Roomiest::gpus, Roomiest::both, Roomiest::enough_gpus}) {
    sort_roomiest(typed, all, by);
    if (covers(typed, std::span(all).first(high)))
      for (const std::size_t n : sizes(typed.demand, low, high))
        if (covers(typed, std::span(all).first(n))) return n;
    if (typed.total_count == 0) break;
  }
  return std::nullopt;
}

// Of all ways to take `n` nodes the tightest, if one with an even share on each exists.
std::optional<std::vector<Candidate>> tightest(const Typed& typed, std::span<const Candidate> all,
                                               std::size_t n) {
  const auto count = static_cast<std::int64_t>(n);
  const std::int64_t tasks = (typed.demand.tasks + count - 1) / count;
  const std::int64_t gpus = (typed.total_count + count - 1) / count;
  std::vector<Candidate> good;
  for (const Candidate& c : all)
    if (c.room->required || (c.tasks >= tasks && c.gpus >= gpus)) good.push_back(c);
  if (good.size() < n) return std::nullopt;
  const auto by_waste = [](const Candidate& a, const Candidate& b) {
    return std::tuple(!a.room->required, a.spare_gpus, a.tasks, a.room->free[kCpus], a.room->node) <
           std::tuple(!b.room->required, b.spare_gpus, b.tasks, b.room->free[kCpus], b.room->node);
  };
  if (typed.demand.tags) {
    std::sort(good.begin(), good.end(), by_waste);
    counted_first(typed.demand, good);
  } else {
    std::partial_sort(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n), good.end(),
                      by_waste);
  }
  good.resize(n);
  if (!covers(typed, good)) return std::nullopt;
  return good;
}

// Shares `amount` among takers as evenly as `limits` allow, the earlier ones first.
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

// An amount of nothing, or less, is no rule: it could only divide by zero or give memory back.
MemoryRule rule_of(const Demand& demand) {
  const bool amount =
      demand.memory_rule != MemoryRule::none && demand.memory_rule != MemoryRule::whole;
  return amount && demand.memory <= Bytes{} ? MemoryRule::none : demand.memory_rule;
}

std::int64_t memory_of(const Demand& demand, const Room& room, std::int64_t cpus,
                       std::int64_t tasks) {
  const std::int64_t asked = demand.memory.value();
  switch (rule_of(demand)) {
    case MemoryRule::none: return 0;
    case MemoryRule::per_node: return asked;
    case MemoryRule::per_cpu: return std::min(capped_product(asked, cpus), room.total[kMemory]);
    case MemoryRule::per_task: return capped_product(asked, tasks);
    case MemoryRule::whole: return room.total[kMemory];
  }
  return 0;
}

Placement lay_out(const Typed& typed, std::vector<Candidate> chosen) {
  std::sort(chosen.begin(), chosen.end(),
            [](const Candidate& a, const Candidate& b) { return a.room->node < b.room->node; });
  std::vector<std::int64_t> limits;
  for (const Candidate& c : chosen) limits.push_back(c.tasks);
  const auto tasks = spread(
      std::max<std::int64_t>(typed.demand.tasks, static_cast<std::int64_t>(chosen.size())), limits);

  Placement placement;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Room& room = *chosen[i].room;
    PlacedShare share{room.node, static_cast<std::uint32_t>(tasks[i]), typed.per_node};
    std::int64_t& cpus = share.amounts[kCpus];
    cpus = typed.demand.exclusive ? room.total[kCpus]
                                  : std::max(tasks[i] * typed.demand.cpus_per_task,
                                             std::int64_t{typed.demand.min_cpus_per_node});
    share.amounts[kMemory] = memory_of(typed.demand, room, cpus, tasks[i]);
    for (std::size_t column = kFirstGpu; column < typed.per_task.size(); ++column)
      share.amounts[column] += tasks[i] * typed.per_task[column];
    placement.push_back(std::move(share));
  }
  for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column) {
    if (typed.total[column] == 0) continue;
    std::vector<std::int64_t> free;
    for (const Candidate& c : chosen) free.push_back(c.room->free[column] - typed.per_node[column]);
    const auto gpus = spread(typed.total[column], free);
    for (std::size_t i = 0; i < chosen.size(); ++i) placement[i].amounts[column] += gpus[i];
  }
  if (typed.demand.exclusive)
    for (std::size_t i = 0; i < chosen.size(); ++i)
      for (std::size_t column = kFirstGpu; column < typed.total.size(); ++column)
        placement[i].amounts[column] = chosen[i].room->total[column];
  return placement;
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
  const auto count = how_many(typed, candidates, required);
  if (!count) return std::nullopt;
  if (auto chosen = tightest(typed, candidates, *count)) return lay_out(typed, std::move(*chosen));
  candidates.resize(*count);
  return lay_out(typed, std::move(candidates));
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

std::optional<Placement> fit_rooms(const Demand& demand, std::span<const Room> rooms) {
  if (demand.unknown_gpu_type || rooms.size() < demand.min_nodes) return std::nullopt;
  const std::size_t stride = rooms.front().total.size();
  if (!demand.wants_any_gpu()) return fit_typed(typed_as(demand, stride, std::nullopt), rooms);
  for (std::size_t column = kFirstGpu; column < stride; ++column)
    if (auto placement = fit_typed(typed_as(demand, stride, column), rooms)) return placement;
  return std::nullopt;
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
         demand.gpus_per_task.empty() && !demand.tags;
}

OneNode::OneNode(const Demand& demand, std::size_t stride)
    : demand_(demand), gpus_(typed_as(demand, stride, std::nullopt).per_node) {}

void OneNode::offer(const Room& room) {
  const std::int64_t tasks = task_capacity(demand_, gpus_, room);
  if (tasks < demand_.tasks) return;
  std::int64_t spare = 0;
  for (std::size_t c = kFirstGpu; c < gpus_.size(); ++c) spare += room.free[c] - gpus_[c];
  const std::tuple waste(spare, tasks, room.free[kCpus], room.node);
  if (best_ && waste_ <= waste) return;
  best_ = room;
  waste_ = waste;
}

std::optional<Placement> OneNode::placement() const {
  if (!best_ || demand_.unknown_gpu_type) return std::nullopt;
  return fit(demand_, std::span(&*best_, 1));
}

std::optional<Placement> fit(const Demand& demand, std::span<const Room> rooms) {
  if (!demand.tags || demand.tags->alternatives == 0) return fit_rooms(demand, rooms);
  for (std::size_t i = 0; i < demand.tags->alternatives; ++i) {
    const auto meets = [&](const Room& room) {
      return (demand.tags->of_node[room.node] >> i & 1) != 0;
    };
    std::vector<Room> some;
    std::copy_if(rooms.begin(), rooms.end(), std::back_inserter(some), meets);
    if (std::any_of(rooms.begin(), rooms.end(),
                    [&](const Room& room) { return room.required && !meets(room); }))
      continue;
    if (auto placement = fit_rooms(demand, some)) return placement;
  }
  return std::nullopt;
}

}  // namespace ares::core::sched
