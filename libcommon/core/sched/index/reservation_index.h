// ReservationIndex: the nodes of each reservation, and which jobs may use them when. Part of the
// ClusterIndex, made again with it when a reservation changes. It reads the state that it was made
// from, which must outlive it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cluster/reservation_access.h"
#include "core/sched/index/node_tenants.h"

namespace ares::core::sched {

class ReservationIndex {
 public:
  ReservationIndex() = default;
  // `find` returns the position of a node by its name, or nothing.
  template <class Find>
  ReservationIndex(const ClusterState& state, Find&& find) {
    state.reservations.for_each([&](const std::string& name, const Reservation& r) {
      by_name_.emplace(name, &r);
      for (const std::string& node : r.nodes)
        if (const auto at = find(node)) on_[*at].push_back(&r);
    });
  }

  bool empty() const { return by_name_.empty(); }
  bool any(std::uint32_t node) const { return on_.contains(node); }
  const std::vector<const Reservation*>& on(std::uint32_t node) const;

  // Whether at least one of the named reservations is flexible.
  bool flexible(const std::vector<std::string>& names) const;

  // Whether the job may use the node from `from` until `to` (none: without end).
  bool admits(std::uint32_t node, const AccessRequest& access, Time from,
              std::optional<Time> to) const {
    if (by_name_.empty()) return access.reservations.empty();
    return reservations_allow(on(node), access.reservations, access.flexible, {from, to});
  }

  // Calls visit(time) for the beginnings and ends, after `now`, of the node's reservations; for
  // recurring ones, of the next few occurrences.
  template <class Visit>
  void each_change(std::uint32_t node, Time now, Visit&& visit) const {
    for (const Reservation* r : on(node)) {
      Time at = now;
      for (int i = 0; i < kMaxOccurrences; ++i) {
        const auto next = occurrence_at(*r, at);
        if (!next) break;
        if (next->start > now) visit(next->start);
        visit(next->end);
        at = next->end;
      }
    }
  }

  // The first beginning or end of any reservation after `now`.
  std::optional<Time> next_change(Time now) const;

 private:
  static constexpr int kMaxOccurrences = 8;

  std::unordered_map<std::string, const Reservation*> by_name_;
  std::unordered_map<std::uint32_t, std::vector<const Reservation*>> on_;
};

}  // namespace ares::core::sched
