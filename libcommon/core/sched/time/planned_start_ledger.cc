#include "core/sched/time/planned_start_ledger.h"

#include <algorithm>

namespace ares::core::sched {

PlannedStartLedger::Entry& PlannedStartLedger::entry(const Partition* partition,
                                                     const Reservations& reservations) {
  const auto [found, added] = entries_.try_emplace({partition, reservations});
  if (added) {
    const auto own = policy_.backfill_of.find(partition->name);
    found->second.rule = own == policy_.backfill_of.end() ? policy_.backfill : own->second;
  }
  return found->second;
}

bool PlannedStartLedger::has_waiting(const Partition* partition,
                                     const Reservations& reservations) const {
  const auto found = entries_.find({partition, reservations});
  return found != entries_.end() && found->second.waiting;
}

bool PlannedStartLedger::add_waiting(const Partition* partition, const Reservations& reservations) {
  Entry& here = entry(partition, reservations);
  any_closed_ = any_closed_ || here.rule.kind == BackfillKind::none;
  return !std::exchange(here.waiting, true);
}

bool PlannedStartLedger::take(const Partition* partition, const Reservations& reservations) {
  Entry& here = entry(partition, reservations);
  switch (here.rule.kind) {
    case BackfillKind::conservative: return true;
    // One planned start, for the first job, so that jobs of other partitions on the same nodes do
    // not delay it.
    case BackfillKind::none:
    case BackfillKind::easy: break;
  }
  if (here.taken == here.rule.reservations) return false;
  ++here.taken;
  return true;
}

void PlannedStartLedger::release(const Partition* partition, const Reservations& reservations) {
  Entry& here = entry(partition, reservations);
  if (here.rule.kind != BackfillKind::conservative) --here.taken;
  if (here.rule.kind == BackfillKind::none) here.waiting = false;
}

bool PlannedStartLedger::closed(const Partition* partition,
                                const Reservations& reservations) const {
  if (!any_closed_) return false;
  const auto found = entries_.find({partition, reservations});
  return found != entries_.end() && found->second.waiting &&
         found->second.rule.kind == BackfillKind::none;
}

bool PlannedStartLedger::exhausted(const Partition* partition,
                                   const Reservations& reservations) const {
  const auto found = entries_.find({partition, reservations});
  return found != entries_.end() && found->second.waiting &&
         found->second.rule.kind != BackfillKind::conservative &&
         found->second.taken == found->second.rule.reservations;
}

Time PlannedStartLedger::not_before(const Partition* partition,
                                    const Reservations& reservations) const {
  const auto found = entries_.find({partition, reservations});
  return found != entries_.end() && found->second.rule.kind == BackfillKind::none
             ? found->second.last
             : Time::min();
}

void PlannedStartLedger::record_planned_start(const Partition* partition, Time at,
                                              const Reservations& reservations) {
  entry(partition, reservations).last = at;
}

}  // namespace ares::core::sched
