// Who may be on a reserved node when: the one place that the scheduler and the check of its plans ask. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// From when until when a job would be on a node; none = nobody knows when it ends.
struct AccessWindow {
  Time from{};
  std::optional<Time> to;
};

// Whether a job that asked for these reservations keeps to them, and out of all others, on a node that `on_node` lie on. `anywhere`:
// one of those it asked for is flexible.
bool reservations_allow(std::span<const Reservation* const> on_node,
                        const std::vector<std::string>& requested, bool flexible,
                        const AccessWindow& window);

bool any_flexible_reservation(const ClusterState& state, const std::vector<std::string>& names);

// Until the end of the last of these reservations that is on; none if none is, or if a flexible one is among them, which jobs may
// outlast.
std::optional<Seconds> reservation_time_left(const ClusterState& state,
                                             const std::vector<std::string>& names, Time now);

// A job that asks for as long as its reservation lasts starts a little after its beginning: it may lose so much of its limit.
inline constexpr Seconds kLateStartTolerance{60};

// The time limit of a job that asks for these reservations, were it started now: what has none gets the time that is left.
std::optional<Seconds> limit_within_reservations(const ClusterState& state,
                                                 const std::vector<std::string>& names,
                                                 std::optional<Seconds> limit, Time now);

}  // namespace ares::core
