// Rules of access to reserved nodes, used by the scheduler and by the check of its plans. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core {

// When a job would use a node; `to` none = its end is unknown.
struct AccessWindow {
  Time from{};
  std::optional<Time> to;
};

// Whether a job that requested these reservations stays within them, and outside all others, on a
// node with the reservations `on_node`. `flexible`: one of the requested reservations is flexible.
bool reservations_allow(std::span<const Reservation* const> on_node,
                        const std::vector<std::string>& requested, bool flexible,
                        const AccessWindow& window);

bool any_flexible_reservation(const ClusterState& state, const std::vector<std::string>& names);

// Time until the last of these reservations that are active ends; none if none is active, or if one
// of them is flexible, because its jobs may outlast it.
std::optional<Seconds> reservation_time_left(const ClusterState& state,
                                             const std::vector<std::string>& names, Time now);

// A job as long as its reservation starts slightly late: its limit is cut by up to this much.
inline constexpr Seconds kLateStartTolerance{60};

// Limit of a job with these reservations if it started now; without a limit, the time that is left.
std::optional<Seconds> limit_within_reservations(const ClusterState& state,
                                                 const std::vector<std::string>& names,
                                                 std::optional<Seconds> limit, Time now);

}  // namespace ares::core
