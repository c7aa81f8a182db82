#include "core/cluster/staying.h"

#include <algorithm>

namespace ares::core {
namespace {

bool within(const Reservation& r, const Stay& stay) {
  const auto now = occurrence_at(r, stay.from);
  // What nobody knows the end of gets a limit when it starts.
  return now && now->start <= stay.from && (!stay.to || *stay.to <= now->end);
}

}  // namespace

bool may_stay(std::span<const Reservation* const> on_node, const std::vector<std::string>& asked,
              bool anywhere, const Stay& stay) {
  bool inside = asked.empty() || anywhere;
  for (const Reservation* r : on_node) {
    if (std::find(asked.begin(), asked.end(), r->name) != asked.end())
      inside = inside || within(*r, stay);
    else if (touches(*r, stay.from, stay.to))
      return false;
  }
  return inside;
}

bool any_flexible(const ClusterState& state, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Reservation* r = state.reservations.find(name);
    return r && r->flexible;
  });
}

std::optional<Seconds> time_left_in(const ClusterState& state,
                                    const std::vector<std::string>& names, Time now) {
  if (any_flexible(state, names)) return std::nullopt;
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

std::optional<Seconds> limit_within(const ClusterState& state,
                                    const std::vector<std::string>& names,
                                    std::optional<Seconds> limit, Time now) {
  if (names.empty()) return limit;
  const auto left = time_left_in(state, names, now);
  if (!left || (limit && (*limit <= *left || *limit > *left + kLateStart))) return limit;
  return left;
}

}  // namespace ares::core
