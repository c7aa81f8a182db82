#include "core/sched/time/promises.h"

#include <algorithm>

namespace ares::core::sched {

Promises::Line& Promises::line(const Partition* partition, const Inside& inside) {
  const auto [found, added] = lines_.try_emplace({partition, inside});
  if (added) {
    const auto own = policy_.backfill_of.find(partition->name);
    found->second.rule = own == policy_.backfill_of.end() ? policy_.backfill : own->second;
  }
  return found->second;
}

bool Promises::any_waits(const Partition* partition, const Inside& inside) const {
  const auto found = lines_.find({partition, inside});
  return found != lines_.end() && found->second.waiting;
}

bool Promises::waits(const Partition* partition, const Inside& inside) {
  Line& here = line(partition, inside);
  any_closed_ = any_closed_ || here.rule.kind == BackfillKind::none;
  return !std::exchange(here.waiting, true);
}

bool Promises::grant(const Partition* partition, const Inside& inside) {
  Line& here = line(partition, inside);
  switch (here.rule.kind) {
    case BackfillKind::conservative: return true;
    case BackfillKind::
        none:  // the first, which jobs of other partitions on the same nodes then leave alone
    case BackfillKind::easy: break;
  }
  if (here.promised == here.rule.reservations) return false;
  ++here.promised;
  return true;
}

void Promises::refund(const Partition* partition, const Inside& inside) {
  Line& here = line(partition, inside);
  if (here.rule.kind != BackfillKind::conservative) --here.promised;
  if (here.rule.kind == BackfillKind::none) here.waiting = false;
}

bool Promises::closed(const Partition* partition, const Inside& inside) const {
  if (!any_closed_) return false;
  const auto found = lines_.find({partition, inside});
  return found != lines_.end() && found->second.waiting &&
         found->second.rule.kind == BackfillKind::none;
}

bool Promises::spent(const Partition* partition, const Inside& inside) const {
  const auto found = lines_.find({partition, inside});
  return found != lines_.end() && found->second.waiting &&
         found->second.rule.kind != BackfillKind::conservative &&
         found->second.promised == found->second.rule.reservations;
}

Time Promises::not_before(const Partition* partition, const Inside& inside) const {
  const auto found = lines_.find({partition, inside});
  return found != lines_.end() && found->second.rule.kind == BackfillKind::none ? found->second.last
                                                                                : Time::min();
}

void Promises::note_start(const Partition* partition, Time at, const Inside& inside) {
  line(partition, inside).last = at;
}

}  // namespace ares::core::sched
