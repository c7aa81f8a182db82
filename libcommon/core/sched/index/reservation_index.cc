#include "core/sched/index/reservation_index.h"

#include <algorithm>

namespace ares::core::sched {

const std::vector<const Reservation*>& ReservationIndex::on(std::uint32_t node) const {
  static const std::vector<const Reservation*> kNone;
  const auto found = on_.find(node);
  return found == on_.end() ? kNone : found->second;
}

bool ReservationIndex::flexible(const std::vector<std::string>& names) const {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const auto found = by_name_.find(name);
    return found != by_name_.end() && found->second->flexible;
  });
}

std::optional<Time> ReservationIndex::next_change(Time now) const {
  std::optional<Time> first;
  for (const auto& [name, r] : by_name_) {
    const auto next = occurrence_at(*r, now);
    if (!next) continue;
    const Time at = next->start > now ? next->start : next->end;
    first = std::min(first.value_or(at), at);
  }
  return first;
}

}  // namespace ares::core::sched
