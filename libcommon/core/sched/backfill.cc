#include "core/sched/backfill.h"

#include <algorithm>

namespace ares::core::sched {
namespace {

// Between reservations the free amounts rise and fall, so times are tried one by one, but not more
// than these.
constexpr std::size_t kTimesTried = 200;

bool is_required(NodeSet set, NodeIndex node) {
  return std::binary_search(set.required.begin(), set.required.end(), node);
}

// All moments from now on at which something changes on the nodes.
std::vector<Time> changes(NodeSet set, const Profile& profile) {
  std::vector<Time> times;
  for (const NodeIndex node : set.nodes) {
    const auto of_node = profile.node(node).times();
    times.insert(times.end(), of_node.begin(), of_node.end());
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                Against against, Work& work) {
  work.spend(set.nodes.size());
  const auto admits = [&](const IndexedNode& node) {
    return against == Against::totals || node.guests.admit(demand.caller);
  };
  const auto free_of = [&](const IndexedNode& node) -> const Amounts& {
    return against == Against::totals ? node.total : node.free;
  };
  if (set.required.empty() && OneNode::suits(demand)) {
    OneNode one(demand, index.stride());
    for (const NodeIndex at : set.nodes) {
      const IndexedNode& node = index.nodes()[at];
      if (admits(node)) one.offer({at, free_of(node), node.total});
    }
    return one.placement();
  }
  std::vector<Room> rooms;
  rooms.reserve(set.nodes.size());
  for (const NodeIndex at : set.nodes) {
    const IndexedNode& node = index.nodes()[at];
    if (free_of(node)[kCpus] > 0 && admits(node))
      rooms.push_back({at, free_of(node), node.total, is_required(set, at)});
  }
  const auto required =
      std::count_if(rooms.begin(), rooms.end(), [](const Room& room) { return room.required; });
  if (static_cast<std::size_t>(required) != set.required.size()) return std::nullopt;
  return fit(demand, rooms);
}

std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     Work& work) {
  work.spend(set.nodes.size());
  const std::size_t stride = index.stride();
  std::vector<std::int64_t> free(set.nodes.size() * stride);
  std::vector<Room> rooms;
  rooms.reserve(set.nodes.size());
  for (std::size_t i = 0; i < set.nodes.size(); ++i) {
    const NodeIndex at = set.nodes[i];
    if (!profile.admits(at, demand.caller, from)) {
      if (is_required(set, at)) return std::nullopt;
      continue;
    }
    const std::span<std::int64_t> row(free.data() + i * stride, stride);
    profile.node(at).least(from, to, row);
    rooms.push_back({at, row, index.nodes()[at].total, is_required(set, at)});
  }
  return fit(demand, rooms);
}

bool promised(NodeSet set, const Profile& profile) {
  return profile.any_promise() &&
         std::any_of(set.nodes.begin(), set.nodes.end(),
                     [&](NodeIndex node) { return profile.promised(node); });
}

bool promised(const Placement& placement, const Profile& profile) {
  return profile.any_promise() &&
         std::any_of(placement.begin(), placement.end(),
                     [&](const PlacedShare& share) { return profile.promised(share.node); });
}

std::optional<Reservation> earliest(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                                    const ClusterIndex& index, const Profile& profile, Work& work) {
  const std::vector<Time> times = changes(set, profile);
  const auto at = [&](Time from) {
    return fit_between(demand, set, index, profile, from, Profile::end_of(from, limit), work);
  };
  std::size_t first = 0;
  if (promised(set, profile)) {
    for (; first < times.size() && first < kTimesTried && !work.exhausted(); ++first)
      if (auto placement = at(times[first]))
        return Reservation{times[first], *std::move(placement)};
  }
  // Past the last promise nothing is taken any more: what fits at one time fits at every later one.
  std::size_t low = first, high = times.size();
  while (low < high && !work.exhausted()) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(times[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  if (low == times.size() || work.exhausted()) return std::nullopt;
  auto placement = at(times[low]);
  if (!placement) return std::nullopt;
  return Reservation{times[low], *std::move(placement)};
}

}  // namespace ares::core::sched
