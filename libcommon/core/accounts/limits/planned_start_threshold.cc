#include "core/accounts/limits/planned_start_threshold.h"

namespace ares::core {
namespace {

struct Threshold {
  std::uint64_t priority = 0;
  std::string whose;
};

Threshold nearest(const Accounting& records, Enforce enforce, const JobSpec& spec,
                  const Partition& partition) {
  Threshold threshold;
  if (enforce == Enforce::none || records.empty()) return threshold;
  const BindingQos binding = binding_qos(records, qos_name(spec), &partition);
  for (const Qos* qos : binding.in_order())
    if (qos && qos->has(QosFlag::no_reserve))
      return {kNoPlannedStart, qos_text(*qos, binding, partition.name)};
  if (enforce < Enforce::limits) return threshold;
  const auto find_in = [&](const Limits& limits, const std::string& whose) {
    const auto bound = limit_of(limits, LimitKind::min_prio_thresh);
    if (bound) threshold = {*bound, whose};
    return !bound;
  };
  for (const Qos* qos : binding.in_order())
    if (qos && !find_in(qos->limits, qos_text(*qos, binding, partition.name))) return threshold;
  each_terms(
      chain_of(records, spec.account, spec.user, partition.name),
      [&](const Terms& terms, const std::string& name) { return find_in(terms.limits, name); });
  return threshold;
}

}  // namespace

std::uint64_t planned_start_threshold(const Accounting& records, Enforce enforce,
                                      const JobSpec& spec, const Partition& partition) {
  return nearest(records, enforce, spec, partition).priority;
}

std::string planned_start_threshold_text(const Accounting& records, Enforce enforce,
                                         const JobSpec& spec, const Partition& partition) {
  const Threshold threshold = nearest(records, enforce, spec, partition);
  if (threshold.priority == kNoPlannedStart)
    return threshold.whose + " has its jobs promised no start (NoReserve)";
  if (threshold.priority == 0) return {};
  return "below priority " + std::to_string(threshold.priority) +
         " it is promised no start (MinPrioThresh of " + threshold.whose + ")";
}

}  // namespace ares::core
