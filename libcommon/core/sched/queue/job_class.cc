#include "core/sched/queue/job_class.h"

namespace ares::core::sched {

NodeSet JobClass::nodes() const {
  return {list(), candidates.required, &list().bits()};
}

bool JobClass::still_blocked(const ClusterIndex& index) {
  if (!shortfall_.any()) return false;
  const Bitset& bits = list().bits();
  const bool remembered = index.gains().each_since(shortfall_gains_, [&](NodeIndex at) {
    if (!shortfall_.any() || !bits.test(at)) return;
    const std::int64_t tasks = tasks_now(demand, at, index);
    if (tasks == 0 || (demand.max_nodes == 1 && tasks < demand.tasks)) return;
    // Once the missing nodes or tasks have become free the class may fit, whatever else was
    // missing; only a search can decide.
    shortfall_.nodes -= 1;
    shortfall_.tasks -= tasks;
  });
  if (!remembered) shortfall_ = {};
  shortfall_gains_ = index.gains().count();
  return shortfall_.any();
}

void JobClass::record_shortfall(const ClusterIndex& index) {
  shortfall_ = {};
  if (!stays_blocked(demand)) return;
  shortfall_ = shortfall_of(demand, list().bits(), index);
  shortfall_gains_ = index.gains().count();
}

bool JobClass::known_blocked(std::optional<Seconds> limit) const {
  if (blocked) return true;
  if (!blocked_by_planned_start) return false;
  return !limit || (blocked_limit && *limit >= *blocked_limit);
}

void JobClass::record_blocked_limit(std::optional<Seconds> limit) {
  if (!blocked_by_planned_start || !blocked_limit || (limit && *limit < *blocked_limit))
    blocked_limit = limit;
  blocked_by_planned_start = true;
}

bool JobClass::fits_without_plugins(const ClusterIndex& index, CapacityBasis basis) const {
  Demand plain = demand;
  plain.plugin_class = nullptr;
  SearchBudget unbounded = SearchBudget::unbounded();
  return fit_on(plain, nodes(), index, basis, unbounded).has_value();
}

Time JobClass::not_before(std::optional<Seconds> limit) const {
  const bool as_long = !limit || (planned_limit_ && *limit >= *planned_limit_);
  return planned_at_ && as_long ? *planned_at_ : Time::min();
}

void JobClass::record_planned_start(std::optional<Seconds> limit, Time at) {
  planned_at_ = at;
  planned_limit_ = limit;
}

}  // namespace ares::core::sched
