#include "core/sched/explain.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/saturating.h"
#include "core/sched/devices.h"
#include "core/sched/shapes.h"

namespace ares::core::sched {
namespace {

enum class Obstacle : std::uint8_t {
  drained,
  down,
  unregistered,
  lost,
  excluded,
  gpus,
  links,
  cpus,
  memory,
  busy,
  others,
  none
};

constexpr std::array<const char*, 12> kObstacleText = {"drained",
                                                       "down",
                                                       "not registered",
                                                       "not responding",
                                                       "failed to launch it",
                                                       "with too few free GPUs",
                                                       "with too few free GPUs so linked",
                                                       "with too few free CPUs",
                                                       "with too little free memory",
                                                       "not empty",
                                                       "not to be shared with others' jobs",
                                                       "with room"};

Obstacle state_obstacle(const Node& node) {
  if (node.admin == AdminState::drain) return Obstacle::drained;
  if (node.admin == AdminState::down) return Obstacle::down;
  if (node.contact == Contact::never) return Obstacle::unregistered;
  return Obstacle::lost;
}

// The most GPUs, of its type or of any one, that the job could have there now, linked as it asks.
std::int64_t most_linked(const Demand& demand, const IndexedNode& node, const ClusterIndex& index) {
  if (demand.gpu_constraint.none()) return 0;
  Amounts free = node.free;
  cap_gpus(demand, node, GpusOf::free_now, index, free);
  for (const auto* list : {&demand.gpus_per_node, &demand.gpus_per_task, &demand.gpus_total})
    if (!list->empty()) return free[list->front().first];
  return free.size() > kFirstGpu ? *std::max_element(free.begin() + kFirstGpu, free.end()) : 0;
}

// Whether so many are too few; GPUs in total, of several nodes, may come from others. The constraint is on GPUs of one type.
bool too_few_linked(const Demand& demand, std::int64_t most) {
  if (demand.gpu_constraint.none()) return false;
  std::int64_t fewest = std::int64_t{demand.any_gpus_per_node} + demand.any_gpus_per_task;
  if (demand.max_nodes == 1) fewest += demand.any_gpus_total;
  for (const auto* list : {&demand.gpus_per_node, &demand.gpus_per_task, &demand.gpus_total})
    if (list != &demand.gpus_total || demand.max_nodes == 1)
      for (const auto& [column, count] : *list) fewest += count;
  return most < fewest;
}

// What one task with the GPUs of a node needs there, for an untyped request of the type most free.
Obstacle room_obstacle(const Demand& demand, const IndexedNode& node, std::int64_t linked) {
  if (!node.guests.admit(demand.caller)) return Obstacle::others;
  for (const auto& [column, count] : demand.gpus_per_node)
    if (node.free[column] < count) return Obstacle::gpus;
  if (demand.any_gpus_per_node > 0) {
    const auto most = node.free.size() > kFirstGpu
                          ? *std::max_element(node.free.begin() + kFirstGpu, node.free.end())
                          : 0;
    if (most < demand.any_gpus_per_node) return Obstacle::gpus;
  }
  if (demand.exclusive && node.free[kCpus] != node.total[kCpus]) return Obstacle::busy;
  for (const auto& [column, count] : demand.gpus_per_task)
    if (node.free[column] < count) return Obstacle::gpus;
  if (too_few_linked(demand, linked)) return Obstacle::links;
  if (node.free[kCpus] < std::max(demand.cpus_per_task, demand.min_cpus_per_node))
    return Obstacle::cpus;
  switch (demand.memory_rule) {
    case MemoryRule::none: break;
    case MemoryRule::per_node:
      if (node.free[kMemory] < demand.memory.value()) return Obstacle::memory;
      break;
    case MemoryRule::per_cpu:
      if (Bytes(node.free[kMemory]) < capped_product(demand.memory, demand.cpus_per_task))
        return Obstacle::memory;
      break;
    case MemoryRule::per_task:
      if (node.free[kMemory] < demand.memory.value()) return Obstacle::memory;
      break;
    case MemoryRule::whole:
      if (node.free[kMemory] != node.total[kMemory]) return Obstacle::memory;
      break;
  }
  return Obstacle::none;
}

std::string plural(std::uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string gpu_text(const std::vector<GpuRequest>& requests) {
  std::string text;
  for (const GpuRequest& request : requests)
    text += ", " + std::to_string(request.count) + " " +
            (request.type.empty() ? "GPUs of one type" : request.type);
  return text;
}

std::string need_text(const Shape& shape) {
  const Demand& demand = shape.demand;
  const JobSpec& spec = *shape.example.spec;
  std::string text = plural(std::uint64_t{demand.tasks} * demand.cpus_per_task, "CPU");
  switch (demand.memory_rule) {
    case MemoryRule::none: break;
    case MemoryRule::per_node: text += ", " + format_memory(demand.memory) + " a node"; break;
    case MemoryRule::per_cpu: text += ", " + format_memory(demand.memory) + " a CPU"; break;
    case MemoryRule::per_task: text += ", " + format_memory(demand.memory) + " a task"; break;
    case MemoryRule::whole: text += ", all memory of the node"; break;
  }
  if (!spec.gpus_per_node.empty()) text += gpu_text(spec.gpus_per_node) + " a node";
  if (!spec.gpus_per_task.empty()) text += gpu_text(spec.gpus_per_task) + " a task";
  if (!spec.gpus_total.empty()) text += gpu_text(spec.gpus_total) + " in all";
  if (!demand.gpu_constraint.none()) text += " with " + to_text(demand.gpu_constraint);
  text +=
      " on " + (demand.min_nodes == demand.max_nodes
                    ? plural(demand.min_nodes, "node")
                    : std::to_string(demand.min_nodes) + " to " + plural(demand.max_nodes, "node"));
  if (demand.exclusive) text += " alone";
  if (spec.segment > 1) text += " in segments of " + plural(spec.segment, "node");
  if (demand.limits.max_leaves > 0)
    text += " under " + (demand.limits.max_leaves == 1
                             ? std::string("one leaf switch")
                             : std::to_string(demand.limits.max_leaves) + " leaf switches");
  if (demand.caller.alone) text += " without other users' jobs";
  return text;
}

// "3 nodes with too few free CPUs, 1 drained".
std::string node_text(const Shape& shape, const ClusterIndex& index) {
  std::array<std::uint64_t, kObstacleText.size()> counts{};
  const auto usable = shape.nodes().nodes;
  std::int64_t most = 0;  // GPUs linked as asked, on nodes where they are too few
  for (const NodeIndex at : shape.candidates.members) {
    const IndexedNode& node = index.nodes()[at];
    Obstacle obstacle = Obstacle::excluded;
    if (!node.usable)
      obstacle = state_obstacle(*node.node);
    else if (std::binary_search(usable.begin(), usable.end(), at)) {
      const std::int64_t linked = most_linked(shape.demand, node, index);
      obstacle = room_obstacle(shape.demand, node, linked);
      if (obstacle == Obstacle::links) most = std::max(most, linked);
    }
    ++counts[static_cast<std::size_t>(obstacle)];
  }
  std::string text;
  for (std::size_t i = counts.size(); i-- > 0;) {
    if (counts[i] == 0) continue;
    text += text.empty() ? plural(counts[i], "node") : ", " + std::to_string(counts[i]);
    text += std::string(" ") + kObstacleText[i];
    if (i == static_cast<std::size_t>(Obstacle::links))
      text += " (at most " + std::to_string(most) + " together)";
  }
  return text.empty() ? "no node qualifies" : text;
}

}  // namespace

std::string explain_blocked(const Shape& shape, const ClusterIndex& index) {
  return "needs " + need_text(shape) + ": " + node_text(shape, index);
}

std::string explain_reserved(const Shape& shape, const ClusterIndex& index) {
  std::map<std::string, std::uint64_t> counts;
  for (const NodeIndex at : shape.nodes().nodes) {
    if (room_obstacle(shape.demand, index.nodes()[at]) != Obstacle::none) continue;
    for (const Reservation* r : index.reserved().on(at)) ++counts[r->name];
  }
  std::string text = "free nodes are reserved before it could end";
  const char* separator = ": ";
  for (const auto& [name, count] : counts) {
    text += separator + plural(count, "node") + " in " + name;
    separator = ", ";
  }
  return text;
}

PendingInfo explain_impossible(const Shape& shape, const ClusterIndex& index, bool if_up) {
  PendingInfo info;
  if (!shape.candidates.problem.empty()) {
    info.reason = Reason::req_node_not_avail;
    info.detail = shape.candidates.problem;
  } else if (if_up) {
    info.reason = Reason::req_node_not_avail;
    info.detail = "nodes it needs are down, drained or not registered: " + node_text(shape, index);
  } else {
    info.reason = Reason::bad_constraints;
    info.detail = "needs " + need_text(shape) + ", which partition " + shape.partition->name +
                  " never has (" + plural(shape.candidates.members.size(), "node") +
                  " with the features asked for)";
  }
  return info;
}

}  // namespace ares::core::sched
