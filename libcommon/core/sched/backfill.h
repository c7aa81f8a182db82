// Backfill, EASY style: the first blocked job of a partition is promised the earliest start; others
// may go first if they leave that promise alone. Pure; works on one pass's profile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sched/cluster_index.h"
#include "core/sched/demand.h"
#include "core/sched/fit.h"
#include "core/sched/profile.h"

namespace ares::core::sched {

// What a pass may still spend. One unit is one node looked at for one job.
class Work {
 public:
  explicit Work(std::uint64_t units) : left_(units) {}
  static Work unbounded() { return Work(~std::uint64_t{0}); }
  bool exhausted() const { return left_ == 0; }
  void spend(std::uint64_t units) { left_ = units > left_ ? 0 : left_ - units; }

 private:
  std::uint64_t left_;
};

// Nodes that a demand may use, both ascending; every required one is among the nodes.
struct NodeSet {
  std::span<const NodeIndex> nodes;
  std::span<const NodeIndex> required;
};

enum class Against : std::uint8_t { totals, free_now };

// On empty nodes, or on what is free at this moment, promises ignored.
std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                Against against, Work& work);

// On what stays free for the whole of [from, to).
std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     Work& work);

// Whether a promise lies on any of the nodes, so that what is free now may be needed later.
bool promised(NodeSet set, const Profile& profile);
bool promised(const Placement& placement, const Profile& profile);

struct Reservation {
  Time at{};
  Placement placement;
};

// The earliest start from now on; nothing if the work ran out or it never fits.
std::optional<Reservation> earliest(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                                    const ClusterIndex& index, const Profile& profile, Work& work);

}  // namespace ares::core::sched
