#include "core/sched/queue/reason_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "base/saturating.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/place/typed_demand.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

enum class Obstacle : std::uint8_t {
  drained,
  down,
  unregistered,
  lost,
  kept,
  excluded,
  gpus,
  parts,
  links,
  cpus,
  restricted,
  memory,
  busy,
  others,
  attempts,
  tmp_disk,
  plugin,
  none
};

constexpr std::array<const char*, 18> kObstacleText = {
    "drained",
    "down",
    "not registered",
    "not responding",
    "kept for a job that returns first",
    "failed to launch it",
    "with too few free GPUs",
    "with too little free of every GPU",
    "with too few free GPUs so linked",
    "with too few free CPUs",
    "with too few free CPUs that are not kept for jobs with GPUs",
    "with too little free memory",
    "not empty",
    "not to be shared with others' jobs",
    "with as many jobs as they take",
    "with too little free temporary storage",
    "refused by plugins",
    "with room"};

Obstacle state_obstacle(const Node& node) {
  if (node.admin == AdminState::drain || node.admin == AdminState::fail) return Obstacle::drained;
  if (node.admin == AdminState::down) return Obstacle::down;
  if (node.contact == Contact::never) return Obstacle::unregistered;
  // It is to reboot, or it is on trial and has an attempt.
  if (node.contact == Contact::registered) return Obstacle::drained;
  return Obstacle::lost;
}

// The most free GPUs of one type.
std::int64_t most_gpus(const Demand& demand, std::span<const std::int64_t> free) {
  const auto gpus = free.subspan(kFirstGpu, demand.gpu_end - kFirstGpu);
  return gpus.empty() ? 0 : *std::max_element(gpus.begin(), gpus.end());
}

// The most GPUs of the requested type, or of any one type, that the job could have on the node now
// with the requested links.
std::int64_t most_linked(const Demand& demand, const IndexedNode& node, const ClusterIndex& index) {
  if (demand.gpu_constraint.none()) return 0;
  Amounts free = node.free;
  cap_gpus(demand, node, GpusOf::free_now, index, free);
  for (const auto* list : {&demand.gpus_per_node, &demand.gpus_per_task, &demand.gpus_total})
    if (!list->empty()) return free[list->front().first];
  return most_gpus(demand, free);
}

// Whether `most` GPUs are too few. GPUs in total over several nodes may come from other nodes. The
// constraint concerns GPUs of one type.
bool too_few_linked(const Demand& demand, std::int64_t most) {
  if (demand.gpu_constraint.none()) return false;
  std::int64_t fewest = std::int64_t{demand.any_gpus_per_node} + demand.any_gpus_per_task;
  if (demand.max_nodes == 1) fewest += demand.any_gpus_total;
  for (const auto* list : {&demand.gpus_per_node, &demand.gpus_per_task, &demand.gpus_total})
    if (list != &demand.gpus_total || demand.max_nodes == 1)
      for (const auto& [column, count] : *list) fewest += count;
  return most < fewest;
}

// The largest free part of one GPU of the requested type, or of any type, in thousandths.
std::int64_t most_of_one(const Demand& demand, const IndexedNode& node) {
  std::int64_t most = 0;
  const auto wanted = [&](std::size_t column) {
    return demand.gpus_per_node.empty() || demand.gpus_per_node.front().first == column;
  };
  for (std::size_t column = kFirstGpu; column < demand.gpu_end; ++column)
    if (wanted(column) && node.free[column] > 0) return kWholeGpu;
  for (const SharedGpu& shared : node.shared)
    if (wanted(shared.column)) most = std::max<std::int64_t>(most, kWholeGpu - shared.used);
  return most;
}

// What keeps one task from the node, apart from GPUs.
Obstacle cpu_or_memory_obstacle(const Demand& demand, const IndexedNode& node) {
  const std::int64_t cpus =
      std::max(cpus_of_tasks(demand, 1, node.total), std::int64_t{demand.min_cpus_per_node});
  if (cpus_for(demand, node.free) < cpus)
    return demand.only_unrestricted && node.restricted && node.free[kCpus] >= cpus
               ? Obstacle::restricted
               : Obstacle::cpus;
  switch (demand.memory_rule) {
    case MemoryRule::none: break;
    case MemoryRule::per_node:
      if (node.free[kMemory] < demand.memory.value()) return Obstacle::memory;
      break;
    case MemoryRule::per_cpu:
      if (node.free[kMemory] < memory_of_cpus(demand, cpus_per_task_on(demand, node.total)))
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

// What keeps one task with the GPUs of a node from the node. For an untyped request the type with
// the most free GPUs counts.
Obstacle free_obstacle(const Demand& demand, const IndexedNode& node, std::int64_t linked) {
  if (!node.tenants.admits(demand.access)) return Obstacle::others;
  if (demand.attempts && node.free[*demand.attempts] < 1) return Obstacle::attempts;
  if (demand.tmp_disk && node.free[*demand.tmp_disk] < demand.tmp_mebibytes)
    return Obstacle::tmp_disk;
  if (demand.unknown_gpu_type) return Obstacle::gpus;  // no node has the type
  if (demand.gpu_part > 0) {
    if (most_of_one(demand, node) < demand.gpu_part) return Obstacle::parts;
    return cpu_or_memory_obstacle(demand, node);
  }
  for (const auto& [column, count] : demand.gpus_per_node)
    if (node.free[column] < count) return Obstacle::gpus;
  if (demand.any_gpus_per_node > 0) {
    if (most_gpus(demand, node.free) < demand.any_gpus_per_node) return Obstacle::gpus;
  }
  if (demand.exclusive && node.free[kCpus] != node.total[kCpus]) return Obstacle::busy;
  for (const auto& [column, count] : demand.gpus_per_task)
    if (node.free[column] < count) return Obstacle::gpus;
  if (too_few_linked(demand, linked)) return Obstacle::links;
  return cpu_or_memory_obstacle(demand, node);
}

std::string plural(std::uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

// CPUs in the unit of the index, as decimals.
std::string cpu_count(std::int64_t cpus, std::int64_t cpu_unit) {
  return cpu_unit == 1 ? std::to_string(cpus) : format_thousandths(cpus);
}

std::string gpu_text(const std::vector<GpuRequest>& requests) {
  std::string text;
  for (const GpuRequest& request : requests)
    text += ", " + format_thousandths(thousandths_of(request)) +
            (request.type.empty() ? request.part > 0 ? " of a GPU" : " GPUs of one type"
                                  : " " + request.type);
  return text;
}

std::string need_text(const JobClass& job_class) {
  const Demand& demand = job_class.demand;
  const JobSpec& spec = *job_class.example.spec;
  const std::int64_t cpus = std::int64_t{demand.tasks} * fewest_cpus_per_task(demand);
  std::string text =
      cpu_count(cpus, demand.cpu_unit) + (cpus == demand.cpu_unit ? " CPU" : " CPUs");
  switch (demand.memory_rule) {
    case MemoryRule::none: break;
    case MemoryRule::per_node: text += ", " + format_memory(demand.memory) + " a node"; break;
    case MemoryRule::per_cpu: text += ", " + format_memory(demand.memory) + " a CPU"; break;
    case MemoryRule::per_task: text += ", " + format_memory(demand.memory) + " a task"; break;
    case MemoryRule::whole: text += ", all memory of the node"; break;
  }
  if (demand.tmp_disk) text += ", " + format_memory(spec.tmp_disk) + " of temporary storage a node";
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
  if (demand.access.exclusive_user) text += " without other users' jobs";
  return text;
}

// Text about plugins, such as "; plugin a refuses 3 nodes: its words". `nodes` are the nodes with
// enough free; refused ones are removed.
std::string plugin_text(const JobClass& job_class, const ClusterIndex& index,
                        std::vector<NodeIndex>& nodes) {
  if (!job_class.demand.plugin_class) return {};
  const std::string text =
      job_class.demand.plugin_class->refusals(nodes, GpusOf::free_now, index, true);
  std::vector<NodeIndex> kept;
  job_class.demand.plugin_class->filter(nodes, GpusOf::free_now, index, kept);
  nodes = std::move(kept);
  return text.empty() ? text : "; " + text;
}

// "job 7, 9_1 and 2 more".
std::string names_of(const std::set<JobKey>& jobs) {
  constexpr std::size_t kNamed = 4;
  std::string text = "job ";
  std::size_t named = 0;
  for (const JobKey& key : jobs) {
    if (named == kNamed) return text + " and " + std::to_string(jobs.size() - kNamed) + " more";
    text += (named++ > 0 ? ", " : "") + job_text(key);
  }
  return text;
}

// For a job that returns first.
std::string kept_text(const Job& job) {
  if (!job.expedited || job.expedited->nodes.empty()) return {};
  const std::size_t count = job.expedited->nodes.size();
  return "; returns first: " + plural(count, "node") + (count == 1 ? " is" : " are") +
         " kept for it";
}

// Of a job without GPUs on nodes that keep CPUs from it.
std::string kept_cpus_text(const JobClass& job_class, const ClusterIndex& index) {
  if (!job_class.demand.only_unrestricted) return {};
  std::size_t cpus = 0;
  for (const NodeIndex at : job_class.candidates.members)
    if (const auto& kept = index.nodes()[at].restricted) cpus += kept->all.count();
  if (cpus == 0) return {};
  return ", which keep " + plural(cpus, "CPU") + " for jobs with GPUs";
}

// For example "3 nodes with too few free CPUs, 1 drained".
std::string node_text(const JobClass& job_class, const ClusterIndex& index) {
  std::array<std::uint64_t, kObstacleText.size()> counts{};
  const auto usable = job_class.nodes().nodes;
  std::vector<NodeIndex> with_room;
  std::set<JobKey> kept_for;
  // GPUs with the requested links, on nodes that have too few of them.
  std::int64_t most = 0;
  // Thousandths of one GPU, on nodes that have too little of it; likewise MiB of temporary storage.
  std::int64_t part = 0, tmp_disk = 0;
  for (const NodeIndex at : job_class.candidates.members) {
    const IndexedNode& node = index.nodes()[at];
    Obstacle obstacle = Obstacle::excluded;
    const bool own = is_kept_for(node, job_class.example);
    if (node.kept_for && !own) {
      obstacle = Obstacle::kept;
      kept_for.insert(*node.kept_for);
    } else if (!node.usable && !own)
      obstacle = state_obstacle(*node.node);
    else if (std::binary_search(usable.begin(), usable.end(), at)) {
      const std::int64_t linked = most_linked(job_class.demand, node, index);
      obstacle = free_obstacle(job_class.demand, node, linked);
      if (obstacle == Obstacle::links) most = std::max(most, linked);
      if (obstacle == Obstacle::parts) part = std::max(part, most_of_one(job_class.demand, node));
      if (obstacle == Obstacle::tmp_disk)
        tmp_disk = std::max(tmp_disk, node.free[*job_class.demand.tmp_disk]);
    }
    ++counts[static_cast<std::size_t>(obstacle)];
    if (obstacle == Obstacle::none) with_room.push_back(at);
  }
  const std::string refusals = plugin_text(job_class, index, with_room);
  std::uint64_t& offer = counts[static_cast<std::size_t>(Obstacle::none)];
  counts[static_cast<std::size_t>(Obstacle::plugin)] = offer - with_room.size();
  offer = with_room.size();
  std::string text;
  for (std::size_t i = counts.size(); i-- > 0;) {
    if (counts[i] == 0) continue;
    text += text.empty() ? plural(counts[i], "node") : ", " + std::to_string(counts[i]);
    text += std::string(" ") + kObstacleText[i];
    if (i == static_cast<std::size_t>(Obstacle::kept)) text += " (" + names_of(kept_for) + ")";
    if (i == static_cast<std::size_t>(Obstacle::links))
      text += " (at most " + std::to_string(most) + " together)";
    if (i == static_cast<std::size_t>(Obstacle::parts))
      text += " (at most " + format_thousandths(part) + ")";
    if (i == static_cast<std::size_t>(Obstacle::tmp_disk))
      text += " (at most " + format_memory(Bytes::mib(tmp_disk)) + ")";
  }
  return (text.empty() ? "no node qualifies" : text) + kept_text(job_class.example) + refusals;
}

// Whether the node could be one of the smallest permitted number of nodes, ignoring untyped GPUs.
bool takes_share(const Demand& demand, const ClusterIndex& index, NodeIndex at) {
  const IndexedNode& node = index.nodes()[at];
  if (free_obstacle(demand, node, most_linked(demand, node, index)) != Obstacle::none) return false;
  Amounts per_node(node.free.size(), 0), per_task(node.free.size(), 0);
  for (const auto& [column, count] : demand.gpus_per_node) per_node[column] += count;
  for (const auto& [column, count] : demand.gpus_per_task) per_task[column] += count;
  Amounts row;
  const std::uint32_t tasks =
      task_capacity(demand, per_node, {at, free_to_join(demand, node, row), node.total}, per_task);
  return tasks >= (demand.tasks + demand.min_nodes - 1) / demand.min_nodes;
}

// How close the nodes with enough free are to the requested network distance, for example "; under
// 1 leaf switch at most 1 node has room for its share".
std::string network_text(const JobClass& job_class, const ClusterIndex& index) {
  const Demand& demand = job_class.demand;
  if (!demand.limited() || demand.min_nodes < 2) return {};
  if (!demand.network) return "; nothing is known of the network between them";
  std::vector<std::uint64_t> leaves(demand.network->leaves(), 0);
  for (const NodeIndex at : job_class.nodes().nodes) {
    const std::uint32_t leaf = demand.network->leaf_of(at);
    if (leaf < leaves.size() && takes_share(demand, index, at)) ++leaves[leaf];
  }
  const std::uint32_t segment = demand.limits.segment, most = demand.limits.max_leaves;
  for (std::uint64_t& nodes : leaves) nodes -= nodes % segment;
  std::sort(leaves.begin(), leaves.end(), std::greater<>{});
  if (most > 0 && most < leaves.size()) leaves.resize(most);
  const std::uint64_t nodes = std::accumulate(leaves.begin(), leaves.end(), std::uint64_t{0});
  const std::string where =
      most == 0 ? std::string()
                : " under " + std::to_string(most) + " leaf switch" + (most == 1 ? "" : "es");
  if (segment > 1)
    return "; room for " + plural(nodes / segment, "whole segment") + where + ", " +
           std::to_string(demand.min_nodes / segment) + " needed";
  return ";" + where + " at most " + plural(nodes, "node") + (nodes == 1 ? " has" : " have") +
         " room for a share";
}

struct Free {
  std::int64_t in_all = 0, most = 0;
};

std::string free_text(const Free& free, const std::string& what, std::int64_t cpu_unit = 1) {
  return cpu_count(free.in_all, cpu_unit) + " " + what +
         (free.in_all > free.most ? ", at most " + cpu_count(free.most, cpu_unit) + " on one node"
                                  : "");
}

}  // namespace

std::string explain_blocked(const JobClass& job_class, const ClusterIndex& index) {
  if (!job_class.alternatives.empty()) {
    std::string text;
    for (const JobClass* one : job_class.alternatives)
      text += (text.empty() ? "" : "; or ") + explain_blocked(*one, index);
    return text;
  }
  return "needs " + need_text(job_class) + ": " + node_text(job_class, index) +
         network_text(job_class, index);
}

std::string explain_totals(const JobClass& job_class, ClusterIndex& index) {
  std::vector<Free> columns(index.gpu_end());
  for (const NodeIndex at : job_class.nodes().nodes)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& row = index.nodes()[at].free;
      const std::int64_t free = i == kCpus && job_class.demand.only_unrestricted
                                    ? row[*job_class.demand.unrestricted]
                                    : row[i];
      columns[i].in_all += free;
      columns[i].most = std::max(columns[i].most, free);
    }
  const Demand& demand = job_class.demand;
  std::string text = "free in all: " + free_text(columns[kCpus], "CPUs", demand.cpu_unit);
  if (demand.only_unrestricted) text += ", without those kept for jobs with GPUs";
  const auto name = [&](std::size_t column) { return index.gpu_types()[column - kFirstGpu]; };
  std::vector<bool> told(columns.size(), !demand.wants_gpus() || demand.wants_any_gpu());
  for (const auto* list : {&demand.gpus_per_node, &demand.gpus_total, &demand.gpus_per_task})
    for (const auto& [column, count] : *list) {
      text += "; " + free_text(columns[column], name(column));
      told[column] = true;
    }
  std::string others;
  for (std::size_t column = kFirstGpu; column < columns.size(); ++column) {
    if (demand.wants_any_gpu() && columns[column].in_all > 0)
      text += "; " + free_text(columns[column], name(column));
    if (!told[column] && columns[column].in_all > 0)
      others += (others.empty() ? "; of other types " : ", ") +
                std::to_string(columns[column].in_all) + " " + name(column);
  }
  text += others;
  const std::size_t all = index.members(*job_class.partition).size();
  const std::size_t fit = job_class.candidates.members.size();
  if (fit < all)
    text += "; of the partition's " + plural(all, "node") + " " + std::to_string(all - fit) +
            (all - fit == 1 ? " is" : " are") + " excluded or without the features asked for";
  return text;
}

bool is_more_informative(const PendingInfo& info, const PendingInfo& than) {
  const auto turn = [](Reason r) { return r == Reason::resources || r == Reason::priority; };
  if (turn(info.reason) != turn(than.reason)) return turn(info.reason);
  return turn(info.reason) && info.expected_start &&
         (!than.expected_start || *info.expected_start < *than.expected_start);
}

std::string explain_reserved(const JobClass& job_class, const ClusterIndex& index,
                             const AccessWindow& window) {
  const Demand& demand = job_class.demand;
  const std::vector<std::string>& asked = demand.access.reservations;
  const auto keeps_it_out = [&](const Reservation& r) {
    const auto next = occurrence_at(r, window.from);
    return next && (!window.to || next->start < *window.to) &&
           std::find(asked.begin(), asked.end(), r.name) == asked.end();
  };
  const NodeSet set = job_class.nodes();
  const bool only_required = set.required.size() >= demand.max_nodes;
  std::map<std::string, std::uint64_t> counts;
  for (const NodeIndex at : only_required ? set.required : set.nodes) {
    if (!takes_share(demand, index, at)) continue;
    for (const Reservation* r : index.reservations().on(at))
      if (keeps_it_out(*r)) ++counts[r->name];
  }
  if (counts.empty()) return {};
  std::string text(kNodesReserved);
  const char* separator = ": ";
  for (const auto& [name, count] : counts) {
    text += separator + plural(count, "node") + " in " + name;
    separator = ", ";
  }
  return text;
}

PendingInfo explain_impossible(const JobClass& job_class, const ClusterIndex& index, bool if_up) {
  PendingInfo info;
  if (!job_class.candidates.problem.empty()) {
    info.reason = Reason::req_node_not_avail;
    info.detail = job_class.candidates.problem;
  } else if (if_up) {
    info.reason = Reason::req_node_not_avail;
    const bool kept = std::any_of(job_class.candidates.members.begin(),
                                  job_class.candidates.members.end(), [&](const auto at) {
                                    const IndexedNode& node = index.nodes()[at];
                                    return node.kept_for && !is_kept_for(node, job_class.example);
                                  });
    info.detail = std::string("nodes it needs are down, drained") +
                  (kept ? ", not registered or kept for another job: " : " or not registered: ") +
                  node_text(job_class, index);
  } else if (job_class.always_refused()) {
    info.reason = Reason::plugin;
    info.detail = "even on empty nodes " + job_class.demand.plugin_class->refusals(
                                               job_class.nodes().nodes, GpusOf::node, index, true);
  } else {
    info.reason = Reason::bad_constraints;
    info.detail = "needs " + need_text(job_class) + ", which partition " +
                  job_class.partition->name + " never has (" +
                  plural(job_class.candidates.members.size(), "node") +
                  " with the features asked for" + kept_cpus_text(job_class, index) + ")";
  }
  return info;
}

}  // namespace ares::core::sched
