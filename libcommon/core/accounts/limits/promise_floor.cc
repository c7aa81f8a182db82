#include "core/accounts/limits/promise_floor.h"

namespace ares::core {
namespace {

struct Floor {
  std::uint64_t priority = 0;
  std::string whose;
};

Floor nearest(const Accounting& records, Enforce enforce, const JobSpec& spec,
              const Partition& partition) {
  Floor floor;
  if (enforce == Enforce::none || records.empty()) return floor;
  const BindingQos binding = binding_qos(records, qos_name(spec), &partition);
  for (const Qos* qos : binding.in_order())
    if (qos && qos->has(QosFlag::no_reserve))
      return {kNeverPromised, qos_text(*qos, binding, partition.name)};
  if (enforce < Enforce::limits) return floor;
  const auto look = [&](const Limits& limits, const std::string& whose) {
    const auto bound = limit_of(limits, LimitKind::min_prio_thresh);
    if (bound) floor = {*bound, whose};
    return !bound;
  };
  for (const Qos* qos : binding.in_order())
    if (qos && !look(qos->limits, qos_text(*qos, binding, partition.name))) return floor;
  each_terms(chain_of(records, spec.account, spec.user, partition.name),
             [&](const Terms& terms, const std::string& name) { return look(terms.limits, name); });
  return floor;
}

}  // namespace

std::uint64_t promise_floor(const Accounting& records, Enforce enforce, const JobSpec& spec,
                            const Partition& partition) {
  return nearest(records, enforce, spec, partition).priority;
}

std::string promise_floor_text(const Accounting& records, Enforce enforce, const JobSpec& spec,
                               const Partition& partition) {
  const Floor floor = nearest(records, enforce, spec, partition);
  if (floor.priority == kNeverPromised)
    return floor.whose + " has its jobs promised no start (NoReserve)";
  if (floor.priority == 0) return {};
  return "below priority " + std::to_string(floor.priority) +
         " it is promised no start (MinPrioThresh of " + floor.whose + ")";
}

}  // namespace ares::core
