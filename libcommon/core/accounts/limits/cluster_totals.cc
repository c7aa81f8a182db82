#include "core/accounts/limits/cluster_totals.h"

#include <algorithm>

#include "core/accounts/limits/requested_tres.h"
#include "core/accounts/usage/charge.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

constexpr std::string_view kLicense = "license/";

}  // namespace

const ClusterTotals::Amounts& ClusterTotals::amounts_of(const std::string& partition) {
  const auto [found, added] = known_.try_emplace(partition);
  Amounts& amounts = found->second;
  if (!added) return amounts;
  const auto add = [&](const Node& node) {
    const Inventory& has = node.inventory.cpus > 0 ? node.inventory : node.configured;
    amounts["cpu"] += has.cpus;
    amounts["mem"] +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(has.memory.value(), 0)) >> 20;
    amounts["node"] += 1;
    for (const Gpu& gpu : has.gpus) {
      amounts["gres/gpu"] += kWholeGpu;
      amounts["gres/gpu:" + gpu.type] += kWholeGpu;
    }
  };
  const Partition* one = partition.empty() ? nullptr : state_.partitions.find(partition);
  if (one)
    for (const std::string& name : one->nodes) {
      const NodeId* id = state_.node_ids.find(name);
      const Node* node = id ? state_.nodes.find(*id) : nullptr;
      if (node && !node->leaving) add(*node);
    }
  else
    state_.nodes.for_each([&](NodeId, const Node& node) {
      if (!node.leaving) add(node);
    });
  for (const auto& [name, count] : policy_.licenses) amounts[std::string(kLicense) + name] = count;
  const std::uint64_t billing =
      billing_of(rules_of(policy_), one, [&](const std::string& tres) -> std::uint64_t {
        const auto amount = amounts.find(tres);
        return amount == amounts.end() ? 0 : amount->second;
      });
  amounts["billing"] = billing;
  return amounts;
}

std::uint64_t ClusterTotals::of(const std::string& partition, std::string_view tres) {
  const Amounts& amounts = amounts_of(partition);
  const auto found = amounts.find(tres);
  return found == amounts.end() ? 0 : found->second;
}

}  // namespace ares::core
