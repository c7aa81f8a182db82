// Asked: how much of each TRES a job counts for against limits, by what it asks for or, once that is known, by what it would get.
// A view; pure, any thread.
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

// What a job gets, node by node, under the names of accounting: GPUs in thousandths, memory in MiB. Its licences are with the first.
using TresByNode = std::vector<std::map<std::string, std::uint64_t, std::less<>>>;
// Of shares and licences that were chosen.
TresByNode amounts_of(const CowMap<NodeId, Node>& nodes, const NodeShares& shares,
                      const std::vector<LicenseRequest>& licenses);
void add_licenses(const std::vector<LicenseRequest>& licenses, TresByNode& to);

// What amounts, in those units, are billed as in that partition: by its own weights, or the site's.
std::uint64_t billing_of(const Fairness& rules, const Partition* partition,
                         const std::function<std::uint64_t(const std::string&)>& amount);

// In minutes, rounded up; the highest value is unlimited.
std::uint64_t minutes_of(std::optional<Seconds> time_limit);

struct RequestedTres {
  const JobSpec& spec;
  const Partition& partition;
  const Fairness& rules;
  std::optional<Seconds> time_limit;  // none = unlimited
  // Null: as the specification says it, for the fewest nodes, and of several ways to meet it the one that takes least.
  const TresByNode* allocated_tres = nullptr;

  std::uint64_t amount(std::string_view tres) const;
  // On the node that has most of it, if it spreads as evenly as it can.
  std::uint64_t on_a_node(std::string_view tres) const;
  std::uint64_t minutes() const { return minutes_of(time_limit); }
  // Of that, times minutes; the highest value where either has no end.
  std::uint64_t amount_minutes(std::string_view tres) const;
};

}  // namespace ares::core
