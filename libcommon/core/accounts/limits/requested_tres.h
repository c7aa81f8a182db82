// RequestedTres: the amounts of TRES that a job counts against limits, by its request or, once
// known, by its allocation. A view; pure, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cow_map.h"
#include "model/accounts/fairness.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core {

// TRES of an allocation by node: GPUs in thousandths, memory in MiB; licences on the first node.
using TresByNode = std::vector<std::map<std::string, std::uint64_t, std::less<>>>;
// Of the chosen shares and licences.
TresByNode amounts_of(const CowMap<NodeId, Node>& nodes, const NodeShares& shares,
                      const std::vector<LicenseRequest>& licenses);
void add_licenses(const std::vector<LicenseRequest>& licenses, TresByNode& to);

// The billing of amounts in those units, by the weights of the partition or else the site.
std::uint64_t billing_of(const Fairness& rules, const Partition* partition,
                         const std::function<std::uint64_t(const std::string&)>& amount);

// In minutes, rounded up; the highest value is unlimited.
std::uint64_t minutes_of(std::optional<Seconds> time_limit);

struct RequestedTres {
  const JobSpec& spec;
  const Partition& partition;
  const Fairness& rules;
  std::optional<Seconds> time_limit;  // none = unlimited
  // Null: the request counts, for the fewest nodes; of GPU alternatives the one that takes least.
  const TresByNode* allocated_tres = nullptr;

  std::uint64_t amount(std::string_view tres) const;
  // On the node with the most of it; a request is spread as evenly as possible.
  std::uint64_t on_a_node(std::string_view tres) const;
  std::uint64_t minutes() const { return minutes_of(time_limit); }
  // amount() times minutes(); the highest value if either is unlimited.
  std::uint64_t amount_minutes(std::string_view tres) const;
};

}  // namespace ares::core
