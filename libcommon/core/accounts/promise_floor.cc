#include "core/accounts/promise_floor.h"

#include "core/accounts/job_limits.h"

namespace ares::core {
namespace {

struct Floor {
  std::uint64_t priority = 0;
  std::string whose;
};

Floor nearest(const Accounting& records, Enforce enforce, const JobSpec& spec,
              const std::string& partition) {
  Floor floor;
  if (enforce == Enforce::none || records.empty()) return floor;
  const Qos* qos = qos_of(records, spec);
  if (qos && qos->has(QosFlag::no_reserve)) return {kNeverPromised, "QOS " + qos->name};
  if (enforce < Enforce::limits) return floor;
  const auto look = [&](const Limits& limits, const std::string& whose) {
    const auto bound = limit_of(limits, LimitKind::min_prio_thresh);
    if (bound) floor = {*bound, whose};
    return !bound;
  };
  if (!qos || look(qos->limits, "QOS " + qos->name))
    each_terms(
        chain_of(records, spec.account, spec.user, partition),
        [&](const Terms& terms, const std::string& name) { return look(terms.limits, name); });
  return floor;
}

}  // namespace

std::uint64_t promise_floor(const Accounting& records, Enforce enforce, const JobSpec& spec,
                            const std::string& partition) {
  return nearest(records, enforce, spec, partition).priority;
}

std::string promise_floor_text(const Accounting& records, Enforce enforce, const JobSpec& spec,
                               const std::string& partition) {
  const Floor floor = nearest(records, enforce, spec, partition);
  if (floor.priority == kNeverPromised)
    return floor.whose + " has its jobs promised no start (NoReserve)";
  if (floor.priority == 0) return {};
  return "below priority " + std::to_string(floor.priority) +
         " it is promised no start (MinPrioThresh of " + floor.whose + ")";
}

}  // namespace ares::core
