#include "core/fairness/priority.h"

#include <algorithm>
#include <limits>

#include "core/fairness/wide.h"

namespace ares::core::fairness {
namespace {

using In = const PriorityInput&;
using Scale = const PriorityScale&;
using Rules = const Fairness&;

double part(double value, double of) {
  return of > 0 ? std::clamp(value / of, 0.0, 1.0) : 0;
}

double seconds(Duration length) {
  return std::chrono::duration<double>(length).count();
}

// With `raw` the value is not normalised: the weight multiplies it as it is.
double of_highest(std::uint32_t value, std::uint32_t highest, bool raw) {
  return raw ? value : part(value, highest);
}

double age(In in, Scale, Rules rules) {
  if (in.age <= Duration::zero()) return 0;
  return rules.max_age <= Seconds::zero() ? 1 : part(seconds(in.age), seconds(rules.max_age));
}

double job_size(In in, Scale scale, Rules rules) {
  const auto nodes = static_cast<double>(in.nodes), all_nodes = static_cast<double>(scale.nodes);
  const auto cpus = static_cast<double>(in.cpus), all_cpus = static_cast<double>(scale.cpus);
  if (rules.flags.small_relative_to_time) {
    if (all_nodes <= 0 || all_cpus <= 0 || in.time_limit <= Seconds::zero()) return 0;
    const double minutes = std::max(seconds(in.time_limit) / 60, 1.0);
    const double size = std::max(nodes * all_cpus / all_nodes, cpus) / minutes / all_cpus;
    return std::clamp(rules.flags.favor_small ? 1 - size : size, 0.0, 1.0);
  }
  const double by_nodes = part(nodes, all_nodes);
  const double size = in.cpus == 0 ? by_nodes : (by_nodes + part(cpus, all_cpus)) / 2;
  return rules.flags.favor_small ? 1 - size : size;
}

double tres(In in, Scale, Rules rules) {
  double sum = 0;
  for (const TresTerm& term : in.tres)
    sum += term.weight * (rules.flags.no_normal_tres ? term.amount : part(term.amount, term.total));
  return sum;
}

double one(Rules) {
  return 1;
}

constexpr double kMost = std::numeric_limits<std::uint32_t>::max();

bool is_gres(const std::string& name) {
  return name.starts_with("gres/");
}
bool is_of_node(const std::string& name) {
  return name == "cpu" || name == "mem" || is_gres(name);
}

}  // namespace

const std::array<FactorRow, kFactors>& factor_table() {
  static const std::array<FactorRow, kFactors> table{{
      {Factor::site, "SITE", "what the site adds",
       [](In in, Scale, Rules) { return static_cast<double>(in.site); }, one},
      {Factor::age, "AGE", "how long it has been eligible", age,
       [](Rules rules) -> double { return rules.weights.age; }},
      {Factor::association, "ASSOC", "priority of its user in the account",
       [](In in, Scale scale, Rules rules) {
         return of_highest(in.association, scale.max_association,
                           rules.flags.no_normal_association);
       },
       [](Rules rules) -> double { return rules.weights.association; }},
      {Factor::fairshare, "FAIRSHARE", "how little its user was served for its shares",
       [](In in, Scale, Rules) { return std::clamp(in.fairshare, 0.0, 1.0); },
       [](Rules rules) -> double { return rules.weights.fairshare; }},
      {Factor::job_size, "JOBSIZE", "its part of the cluster's nodes and CPUs", job_size,
       [](Rules rules) -> double { return rules.weights.job_size; }},
      {Factor::partition, "PARTITION", "priority of its partition",
       [](In in, Scale scale, Rules rules) {
         return of_highest(in.partition, scale.max_partition, rules.flags.no_normal_partition);
       },
       [](Rules rules) -> double { return rules.weights.partition; }},
      {Factor::qos, "QOS", "priority of its QOS",
       [](In in, Scale scale, Rules rules) {
         return of_highest(in.qos, scale.max_qos, rules.flags.no_normal_qos);
       },
       [](Rules rules) -> double { return rules.weights.qos; }},
      {Factor::tres, "TRES", "its part of the partition's resources, by their weights", tres, one},
      {Factor::nice, "NICE", "what its user took off",
       [](In in, Scale, Rules) { return -static_cast<double>(in.nice); }, one},
  }};
  return table;
}

Priority multifactor_priority(const PriorityInput& input, const PriorityScale& scale,
                              const Fairness& rules) {
  Priority priority;
  double sum = 0;
  for (const FactorRow& row : factor_table()) {
    FactorValue& factor = priority.factors[static_cast<std::size_t>(row.factor)];
    factor.normalised = row.value(input, scale, rules);
    factor.weighted = row.weight(rules) * factor.normalised;
    sum += factor.weighted;
  }
  priority.value = static_cast<std::uint32_t>(std::clamp(sum, 1.0, kMost));
  return priority;
}

std::uint64_t billing(const TresSeconds& amounts, const TresWeights& weights, BillingMode mode) {
  U128 sum = 0, most = 0;
  for (const auto& [name, weight] : weights) {
    const auto found = amounts.find(name);
    if (found == amounts.end() || name == "billing") continue;
    const U128 term = U128{found->second} * weight;
    const bool competes = mode == BillingMode::max_tres        ? is_of_node(name)
                          : mode == BillingMode::max_tres_gres ? name == "cpu" || name == "mem"
                                                               : false;
    if (competes)
      most = std::max(most, term);
    else
      sum += term;
  }
  const U128 total = (sum + most) >> kTresWeightBits;
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  return total > kAll ? kAll : static_cast<std::uint64_t>(total);
}

}  // namespace ares::core::fairness
