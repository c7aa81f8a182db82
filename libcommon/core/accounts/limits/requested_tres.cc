#include "core/accounts/limits/requested_tres.h"

#include <algorithm>
#include <limits>

#include "base/saturating.h"
#include "core/accounts/requested.h"
#include "core/fairness/priority.h"
#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

constexpr std::string_view kLicense = "license/";

std::uint64_t licenses(const JobSpec& spec, std::string_view name) {
  std::uint64_t sum = 0;
  bool others = false;
  for (const LicenseRequest& license : spec.licenses) {
    others = others || license.name != name;
    if (license.name == name) sum = capped_sum<std::uint64_t>(sum, license.count);
  }
  return spec.any_license && others ? 0 : sum;
}

std::uint64_t least_requested(const JobSpec& spec, const Partition& partition,
                              std::string_view tres) {
  std::uint64_t least = requested(spec, &partition, tres);
  if (tres.starts_with("gres/gpu"))
    for (std::size_t i = 0; i < spec.gpu_alternatives.size(); ++i)
      least = std::min(least, requested(with_alternative(spec, i), &partition, tres));
  return least;
}

}  // namespace

TresByNode amounts_of(const CowMap<NodeId, Node>& nodes, const NodeShares& shares,
                      const std::vector<LicenseRequest>& licenses) {
  TresByNode out;
  for (const NodeShare& share : shares) {
    auto& amounts = out.emplace_back();
    amounts["cpu"] = share.cpus;
    amounts["mem"] =
        static_cast<std::uint64_t>(std::max<std::int64_t>(share.memory.value(), 0)) >> 20;
    amounts["node"] = 1;
    const Node* node = share.gpus.empty() ? nullptr : nodes.find(share.node);
    if (!node) continue;
    for (const Gpu& gpu : node->inventory.gpus) {
      if (!std::binary_search(share.gpus.begin(), share.gpus.end(), gpu.index)) continue;
      amounts["gres/gpu"] += held_of_each(share.gpu_part);
      amounts["gres/gpu:" + gpu.type] += held_of_each(share.gpu_part);
    }
  }
  add_licenses(licenses, out);
  return out;
}

void add_licenses(const std::vector<LicenseRequest>& licenses, TresByNode& to) {
  if (to.empty()) return;
  for (const LicenseRequest& license : licenses)
    to.front()[std::string(kLicense) + license.name] += license.count;
}

std::uint64_t billing_of(const Fairness& rules, const Partition* partition,
                         const std::function<std::uint64_t(const std::string&)>& amount) {
  const TresWeights& weights = billing_weights(rules, partition);
  // In thousandths throughout, so that a part of a GPU is not rounded away before it is weighted.
  TresSeconds amounts;
  for (const auto& [tres, weight] : weights) {
    if (tres == "billing") continue;
    const bool gpus = tres.starts_with("gres/gpu");
    amounts[tres] = gpus ? amount(tres) : capped_product<std::uint64_t>(amount(tres), kWholeGpu);
  }
  return fairness::billing(amounts, weights, rules.billing) / kWholeGpu;
}

std::uint64_t minutes_of(std::optional<Seconds> time_limit) {
  if (!time_limit) return std::numeric_limits<std::uint64_t>::max();
  const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time_limit->count(), 0));
  return seconds / 60 + (seconds % 60 > 0 ? 1 : 0);
}

std::uint64_t RequestedTres::amount(std::string_view tres) const {
  if (tres == "billing")
    return billing_of(rules, &partition, [&](const std::string& name) { return amount(name); });
  if (!allocated_tres && tres.starts_with(kLicense))
    return licenses(spec, tres.substr(kLicense.size()));
  if (!allocated_tres) return least_requested(spec, partition, tres);
  std::uint64_t sum = 0;
  for (const auto& node : *allocated_tres)
    if (const auto found = node.find(tres); found != node.end())
      sum = capped_sum(sum, found->second);
  return sum;
}

std::uint64_t RequestedTres::on_a_node(std::string_view tres) const {
  const bool by_node = allocated_tres && tres != "billing";
  if (!by_node) {
    const std::uint64_t nodes = allocated_tres ? std::max<std::uint64_t>(allocated_tres->size(), 1)
                                               : std::max<std::uint64_t>(spec.min_nodes, 1);
    const std::uint64_t all = amount(tres);
    return all / nodes + (all % nodes > 0 ? 1 : 0);
  }
  std::uint64_t most = 0;
  for (const auto& node : *allocated_tres)
    if (const auto found = node.find(tres); found != node.end())
      most = std::max(most, found->second);
  return most;
}

std::uint64_t RequestedTres::amount_minutes(std::string_view tres) const {
  const std::uint64_t all = amount(tres);
  return all == 0 ? 0 : capped_product(all, minutes());
}

}  // namespace ares::core
