#include "store/pg/catalogue.h"

#include <algorithm>

#include "base/hostlist.h"
#include "base/saturating.h"
#include "model/job/gpu_part.h"

namespace ares::store {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Accounting uses whole mebibytes, rounded up.
std::int64_t mebibytes(Bytes amount) {
  return amount.value() / kMiB + (amount.value() % kMiB > 0 ? 1 : 0);
}

void add_gpus(Catalogue::Amounts& amounts, const std::vector<GpuRequest>& requests,
              std::int64_t nodes) {
  for (const GpuRequest& request : requests) {
    const std::int64_t count = capped_product(thousandths_of(request), nodes);
    std::int64_t& all = amounts["gres/gpu"];
    all = capped_sum(all, count);
    if (request.type.empty()) continue;
    std::int64_t& typed = amounts["gres/gpu:" + request.type];
    typed = capped_sum(typed, count);
  }
}

void drop_zeroes(Catalogue::Amounts& amounts) {
  std::erase_if(amounts, [](const auto& item) { return item.second == 0; });
}

}  // namespace

void Catalogue::remember(const ClusterState& state) {
  state.nodes.for_each([this](const NodeId&, const Node& node) { remember(node); });
  state.tres.for_each([this](const std::string& name, TresId id) { tres_[name] = id; });
}

void Catalogue::remember(const Node& node) {
  KnownNode& known = nodes_[node.id];
  known.name = node.name;
  // The type of a removed GPU is kept: attempts that held it may still have to be written.
  for (const auto* inventory : {&node.configured, &node.inventory})
    for (const Gpu& gpu : inventory->gpus) known.gpu_types[gpu.index] = gpu.type;
}

std::string Catalogue::node_name(NodeId id) const {
  const auto known = nodes_.find(id);
  return known != nodes_.end() ? known->second.name : "node#" + std::to_string(id.value());
}

std::string Catalogue::node_list(const Allocation& allocation) const {
  std::vector<std::string> names;
  for (const NodeShare& share : allocation.nodes) names.push_back(node_name(share.node));
  return compress_hostlist(names);
}

Catalogue::Amounts Catalogue::allocated(const Allocation& allocation) const {
  Amounts amounts;
  for (const NodeShare& share : allocation.nodes) {
    amounts["cpu"] += share.cpus;
    amounts["billing"] += share.cpus;
    amounts["mem"] = capped_sum(amounts["mem"], mebibytes(share.memory));
    amounts["node"] += 1;
    const std::int64_t each = held_of_each(share.gpu_part);
    amounts["gres/gpu"] += static_cast<std::int64_t>(share.gpus.size()) * each;
    const auto known = nodes_.find(share.node);
    if (known == nodes_.end()) continue;
    for (const GpuIndex gpu : share.gpus) {
      const auto type = known->second.gpu_types.find(gpu);
      if (type != known->second.gpu_types.end()) amounts["gres/gpu:" + type->second] += each;
    }
  }
  drop_zeroes(amounts);
  return amounts;
}

namespace {

// Whole GPUs of the job; lists for each node, in total and for each task describe the same ones.
std::int64_t gpus_of(const JobSpec& spec, std::int64_t nodes, std::int64_t tasks) {
  const auto sum = [](const std::vector<GpuRequest>& requests) {
    std::int64_t count = 0;
    for (const GpuRequest& request : requests) count += request.count;
    return count;
  };
  if (!spec.gpus_total.empty()) return sum(spec.gpus_total);
  if (!spec.gpus_per_node.empty()) return capped_product(sum(spec.gpus_per_node), nodes);
  return capped_product(sum(spec.gpus_per_task), tasks);
}

}  // namespace

Catalogue::Amounts Catalogue::requested(const JobSpec& spec) {
  Amounts amounts;
  const std::int64_t nodes = std::max<std::int64_t>(spec.min_nodes, 1);
  const std::int64_t tasks =
      spec.tasks_per_node
          ? std::max<std::int64_t>(spec.tasks,
                                   capped_product(nodes, std::int64_t{spec.tasks_per_node}))
          : std::max<std::int64_t>(spec.tasks, 1);
  const std::int64_t cpus =
      std::max(nodes, capped_product(tasks, std::max<std::int64_t>(spec.cpus_per_task, 1)));
  amounts["cpu"] = cpus;
  amounts["billing"] = cpus;
  amounts["node"] = nodes;
  if (spec.memory_per_node)
    amounts["mem"] = capped_product(mebibytes(*spec.memory_per_node), nodes);
  if (spec.memory_per_cpu) amounts["mem"] = capped_product(mebibytes(*spec.memory_per_cpu), cpus);
  if (spec.memory_per_gpu)
    amounts["mem"] = capped_product(mebibytes(*spec.memory_per_gpu), gpus_of(spec, nodes, tasks));
  add_gpus(amounts, spec.gpus_per_node, nodes);
  add_gpus(amounts, spec.gpus_per_task, tasks);
  add_gpus(amounts, spec.gpus_total, 1);
  drop_zeroes(amounts);
  return amounts;
}

Catalogue::Amounts Catalogue::capacity(const Node& node) {
  const Inventory& has = node.inventory.cpus > 0 ? node.inventory : node.configured;
  Amounts amounts;
  amounts["cpu"] = has.cpus;
  amounts["billing"] = has.cpus;
  amounts["mem"] = has.memory.value() / kMiB;
  amounts["node"] = 1;
  for (const Gpu& gpu : has.gpus) {
    amounts["gres/gpu"] += kWholeGpu;
    amounts["gres/gpu:" + gpu.type] += kWholeGpu;
  }
  drop_zeroes(amounts);
  return amounts;
}

TresCounts Catalogue::interned(const Amounts& amounts) const {
  TresCounts counts;
  for (const auto& [name, count] : amounts)
    if (const auto id = tres_.find(name); id != tres_.end()) counts.emplace_back(id->second, count);
  std::sort(counts.begin(), counts.end());
  return counts;
}

std::string Catalogue::text(const Amounts& amounts) {
  std::string out;
  for (const auto& [name, count] : amounts) {
    if (!out.empty()) out += ',';
    const bool gpus = name.starts_with("gres/gpu");
    out += name + '=' + (gpus ? format_thousandths(count) : std::to_string(count)) +
           (name == "mem" ? "M" : "");
  }
  return out;
}

}  // namespace ares::store
