#include "core/cluster/reservation_access.h"

#include <algorithm>

namespace ares::core {
namespace {

bool within(const Reservation& r, const AccessWindow& window) {
  const auto now = occurrence_at(r, window.from);
  // A job without a known end gets a time limit when it starts.
  return now && now->start <= window.from && (!window.to || *window.to <= now->end);
}

}  // namespace

bool reservations_allow(std::span<const Reservation* const> on_node,
                        const std::vector<std::string>& requested, bool flexible,
                        const AccessWindow& window) {
  bool inside = requested.empty() || flexible;
  for (const Reservation* r : on_node) {
    if (std::find(requested.begin(), requested.end(), r->name) != requested.end())
      inside = inside || within(*r, window);
    else if (touches(*r, window.from, window.to))
      return false;
  }
  return inside;
}

bool any_flexible_reservation(const ClusterState& state, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Reservation* r = state.reservations.find(name);
    return r && r->flexible;
  });
}

std::optional<Seconds> reservation_time_left(const ClusterState& state,
                                             const std::vector<std::string>& names, Time now) {
  if (any_flexible_reservation(state, names)) return std::nullopt;
  std::optional<Seconds> left;
  for (const std::string& name : names) {
    const Reservation* r = state.reservations.find(name);
    const auto occurrence = r ? occurrence_at(*r, now) : std::nullopt;
    if (!occurrence || occurrence->start > now) continue;
    const auto here = std::chrono::floor<Seconds>(occurrence->end - now);
    left = std::max(left.value_or(here), here);
  }
  return left;
}

std::optional<Seconds> limit_within_reservations(const ClusterState& state,
                                                 const std::vector<std::string>& names,
                                                 std::optional<Seconds> limit, Time now) {
  if (names.empty()) return limit;
  const auto left = reservation_time_left(state, names, now);
  if (!left || (limit && (*limit <= *left || *limit > *left + kLateStartTolerance))) return limit;
  return left;
}

}  // namespace ares::core
