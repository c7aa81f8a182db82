#include "store/pg/catalogue.h"

#include <algorithm>
#include <cstdint>

#include "base/hostlist.h"
#include "base/saturating.h"
#include "model/job/gpu_part.h"
#include "model/job/requested.h"

namespace ares::store {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Accounting uses whole mebibytes, rounded up.
std::int64_t mebibytes(Bytes amount) {
  return amount.value() / kMiB + (amount.value() % kMiB > 0 ? 1 : 0);
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
  const Inventory& reported = node.reported ? *node.reported : node.inventory;
  for (const auto* inventory : {&node.configured, &node.inventory, &reported})
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

Catalogue::Amounts Catalogue::requested(const JobSpec& spec) {
  const auto number = [](std::uint64_t count) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
  };
  Amounts amounts;
  amounts["cpu"] = number(requested_cpus(spec));
  amounts["billing"] = amounts["cpu"];
  amounts["node"] = number(requested_nodes(spec));
  amounts["mem"] = mebibytes(requested_memory(spec));
  amounts["gres/gpu"] = number(requested_gpus(spec));
  for (const auto& [type, count] : requested_gpus_by_type(spec))
    if (!type.empty()) amounts["gres/gpu:" + type] = number(count);
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
