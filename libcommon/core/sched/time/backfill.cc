#include "core/sched/time/backfill.h"

#include <algorithm>
#include <utility>

#include "core/sched/place/able.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/plugged.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/place/shortlist.h"
#include "core/sched/time/moments.h"

namespace ares::core::sched {
namespace {

// Between reservations the free amounts rise and fall, so times are tried one by one, but not more
// than these.
constexpr std::size_t kTimesTried = 200;

bool is_required(NodeSet set, NodeIndex node) {
  return std::binary_search(set.required.begin(), set.required.end(), node);
}

bool has_required(std::span<const Room> rooms, NodeSet set) {
  const auto required =
      std::count_if(rooms.begin(), rooms.end(), [](const Room& room) { return room.required; });
  return static_cast<std::size_t>(required) == set.required.size();
}

// No job gets along with fewer CPUs. Never more than it can need.
std::int64_t fewest_cpus(const Demand& demand) {
  return std::max(std::int64_t{demand.tasks} * demand.cpus_per_task,
                  std::int64_t{demand.min_nodes} * demand.min_cpus_per_node);
}

// Of the set, those that may have room now; kept in `list`.
NodeSet with_room_now(const Demand& demand, NodeSet set, const ClusterIndex& index,
                      std::vector<NodeIndex>& list) {
  if (!set.bits) return set;
  able(demand, *set.bits, index).for_each([&](std::size_t at) {
    list.push_back(static_cast<NodeIndex>(at));
  });
  return {list, set.required};
}

// Of the set, those that matter now; kept in `list`.
NodeSet shortlisted_now(const Demand& demand, NodeSet set, const ClusterIndex& index,
                        std::vector<NodeIndex>& list) {
  const Bitset nodes = able(demand, *set.bits, index);
  Shortlist shortlist(demand, index.stride(), nodes.count());
  nodes.for_each([&](std::size_t at) {
    const auto node = static_cast<NodeIndex>(at);
    if (index.lets_in(node, demand.caller))
      shortlist.offer(node, index.levels().free(node), index.nodes()[node].total);
  });
  list = shortlist.best();
  return {list, {}};
}

// Of the set, those that matter in [from, to); kept in `list`.
NodeSet shortlisted_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                            const Profile& profile, Time from, std::optional<Time> to,
                            std::vector<NodeIndex>& list) {
  Shortlist shortlist(demand, index.stride(), set.nodes.size());
  Amounts row(index.stride());
  for (const NodeIndex at : set.nodes) {
    if (!profile.admits(at, demand.caller, from, to)) continue;
    if (from <= profile.now() && !profile.touched(at)) {
      shortlist.offer(at, index.levels().free(at), index.nodes()[at].total);
      continue;
    }
    profile.least(at, from, to, row);
    shortlist.offer(at, row, index.nodes()[at].total);
  }
  list = shortlist.best();
  return {list, {}};
}

// Of the set, those that plugins do not refuse; kept in `list`.
NodeSet without_refused(const Demand& demand, NodeSet set, GpusOf state, const ClusterIndex& index,
                        std::vector<NodeIndex>& list) {
  if (!demand.plugged) return set;
  demand.plugged->keep(set.nodes, state, index, list);
  return {list, set.required};
}

std::int64_t plugged_score(const Demand& demand, NodeIndex node, GpusOf state) {
  return demand.plugged ? demand.plugged->score(node, state) : 0;
}

// Of nodes that a part of a GPU finds shared devices on: what it finds free, and what is left of these devices.
class JoinRows {
 public:
  explicit JoinRows(std::size_t nodes) { rows_.reserve(nodes); }
  void raise(const Demand& demand, const IndexedNode& node, Room& room) {
    if (node.shared.empty()) return;
    const std::size_t stride = room.free.size();
    Amounts& row = rows_.emplace_back(room.free.begin(), room.free.end());
    row.resize(2 * stride, 0);
    const auto free = std::span(row).first(stride), left = std::span(row).last(stride);
    add_joinable(demand, node, free, left, [](const SharedGpu&) { return true; });
    room.free = free;
    room.left = left;
  }

 private:
  std::vector<Amounts> rows_;
};

constexpr auto kAnyDevice = [](NodeIndex, const SharedGpu&) { return true; };

// Whether a job that ends then may join the device: it lets go before the others do, or nobody was promised it from then on.
bool may_keep(const Profile& profile, NodeIndex at, const SharedGpu& device, std::optional<Time> to,
              std::size_t stride) {
  const auto until = profile.shared_until(at, device.gpu);
  if (!until) return false;
  if (to && *to <= *until) return true;
  Amounts free(stride);
  profile.least(at, *until, to, free);
  return free[device.column] > 0;
}

// The first of the moments, from the position on, at which it fits, if it does at every later one as well. Looked for near the
// beginning first: where one node is enough it is the first.
template <class At>
std::optional<EarliestStart> first_fit(Moments& moments, std::size_t low, At&& at,
                                       const Work& work) {
  std::optional<EarliestStart> found;
  std::size_t high = low;
  for (std::size_t step = 1; moments.at(high) && !work.exhausted(); step *= 2) {
    if (auto placement = at(*moments.at(high))) {
      found = EarliestStart{*moments.at(high), *std::move(placement)};
      break;
    }
    low = high + 1;
    high = moments.at(high + step) ? high + step : std::max(low, moments.told() - 1);
  }
  while (found && low < high && !work.exhausted()) {
    const std::size_t middle = low + (high - low) / 2;
    auto placement = at(*moments.at(middle));
    if (!placement) {
      low = middle + 1;
      continue;
    }
    high = middle;
    found = EarliestStart{*moments.at(middle), *std::move(placement)};
  }
  return work.exhausted() ? std::nullopt : std::move(found);
}

}  // namespace

std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                Against against, Work& work) {
  work.spend(set.nodes.size());
  std::vector<NodeIndex> list;
  if (against == Against::free_now)
    set = set.bits && set.required.empty() && Shortlist::suits(demand) && !OneNode::suits(demand)
              ? shortlisted_now(demand, set, index, list)
              : with_room_now(demand, set, index, list);
  const GpusOf which = against == Against::totals ? GpusOf::node : GpusOf::free_now;
  std::vector<NodeIndex> allowed;
  set = without_refused(demand, set, which, index, allowed);
  if (set.nodes.size() < demand.min_nodes) return std::nullopt;
  const auto admits = [&](const IndexedNode& node) {
    return against == Against::totals || node.guests.admit(demand.caller);
  };
  const auto free_of = [&](const IndexedNode& node) -> const Amounts& {
    return against == Against::totals ? node.total : node.free;
  };
  std::int64_t cpus = 0;
  for (const NodeIndex at : set.nodes) cpus += free_of(index.nodes()[at])[kCpus];
  if (cpus < fewest_cpus(demand)) return std::nullopt;
  const bool joins = demand.gpu_part > 0 && against == Against::free_now;
  const bool rests = looks_at_take(demand.strategy) && against == Against::free_now;
  JoinRows join_rows(joins ? set.nodes.size() : 0);
  if (set.required.empty() && OneNode::suits(demand)) {
    OneNode one(demand, index.stride());
    for (const NodeIndex at : set.nodes) {
      const IndexedNode& node = index.nodes()[at];
      if (!admits(node)) continue;
      Room room{at, free_of(node), node.total, false, plugged_score(demand, at, which)};
      if (rests) room.shared = node.shared;
      if (joins) join_rows.raise(demand, node, room);
      one.offer(room);
    }
    auto placement = one.placement();
    if (joins && placement) name_devices(index, *placement, kAnyDevice);
    return placement;
  }
  const bool capped = !demand.gpu_constraint.none();
  std::vector<Amounts> rows;  // of nodes whose GPUs cannot all be had together
  rows.reserve(capped ? set.nodes.size() : 0);
  std::vector<Room> rooms;
  rooms.reserve(set.nodes.size());
  for (const NodeIndex at : set.nodes) {
    const IndexedNode& node = index.nodes()[at];
    if (free_of(node)[kCpus] <= 0 || !admits(node)) continue;
    std::span<const std::int64_t> free = free_of(node);
    if (capped) {
      cap_gpus(demand, node, which, index, rows.emplace_back(free_of(node)));
      free = rows.back();
    }
    rooms.push_back({at, free, node.total, is_required(set, at), plugged_score(demand, at, which)});
    if (rests) rooms.back().shared = node.shared;
    if (joins) join_rows.raise(demand, node, rooms.back());
  }
  if (!has_required(rooms, set)) return std::nullopt;
  auto placement = fit(demand, rooms);
  if (joins && placement) name_devices(index, *placement, kAnyDevice);
  return placement;
}

bool fits_empty(const Demand& demand, NodeSet set, const ClusterIndex& index) {
  if (demand.wants_any_gpu() || !demand.gpus_total.empty() || demand.tags || demand.limited() ||
      demand.unknown_gpu_type || !set.required.empty() || !demand.node_counts.empty() ||
      demand.plugged)
    return false;
  const Typed typed(demand, index.stride(), std::nullopt);
  const std::uint32_t even = (demand.tasks + demand.min_nodes - 1) / demand.min_nodes;
  std::uint32_t nodes = 0;
  for (const NodeIndex at : set.nodes) {
    const Amounts& total = index.nodes()[at].total;
    const Room room{at, total, total, false};
    if (task_capacity(demand, typed.per_node, room, typed.per_task) < even) continue;
    if (++nodes == demand.min_nodes) return true;
  }
  return false;
}

std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     Work& work, JoinShared joining) {
  work.spend(set.nodes.size());
  std::vector<NodeIndex> list;
  if (from <= profile.now()) set = with_room_now(demand, set, index, list);
  // Which devices will be free later nobody reckons out: as if they were the best ones, so that a start may be expected too early.
  const GpusOf which = from == profile.now() ? GpusOf::free_now : GpusOf::node;
  std::vector<NodeIndex> allowed;
  set = without_refused(demand, set, which, index, allowed);
  std::vector<NodeIndex> shorter;
  if (set.required.empty() && Shortlist::suits(demand))
    set = shortlisted_between(demand, set, index, profile, from, to, shorter);
  const std::size_t stride = index.stride();
  const bool joins = demand.gpu_part > 0 && joining == JoinShared::now && from == profile.now();
  const auto stays_free = [&](NodeIndex at, const SharedGpu& device) {
    return may_keep(profile, at, device, to, stride);
  };
  std::vector<std::int64_t> free(set.nodes.size() * stride), left(joins ? free.size() : 0);
  std::vector<Room> rooms;
  rooms.reserve(set.nodes.size());
  for (std::size_t i = 0; i < set.nodes.size(); ++i) {
    const NodeIndex at = set.nodes[i];
    if (!profile.admits(at, demand.caller, from, to)) {
      if (is_required(set, at)) return std::nullopt;
      continue;
    }
    const std::span<std::int64_t> row(free.data() + i * stride, stride);
    profile.least(at, from, to, row);
    cap_gpus(demand, index.nodes()[at], which, index, row);
    if (row[kCpus] <= 0 && !is_required(set, at)) continue;
    rooms.push_back(
        {at, row, index.nodes()[at].total, is_required(set, at), plugged_score(demand, at, which)});
    if (which == GpusOf::free_now && looks_at_take(demand.strategy))
      rooms.back().shared = index.nodes()[at].shared;
    if (!joins || index.nodes()[at].shared.empty()) continue;
    rooms.back().left = std::span(left).subspan(i * stride, stride);
    add_joinable(demand, index.nodes()[at], row, std::span(left).subspan(i * stride, stride),
                 [&](const SharedGpu& device) { return stays_free(at, device); });
  }
  if (!has_required(rooms, set)) return std::nullopt;
  auto placement = fit(demand, rooms);
  if (!placement || demand.gpu_part == 0 || joining == JoinShared::never) return placement;
  name_devices(index, *placement, [&](NodeIndex at, const SharedGpu& device) {
    return joins && stays_free(at, device);
  });
  return placement;
}

bool promised(NodeSet set, const Profile& profile) {
  if (!profile.any_promise()) return false;
  if (set.bits) return set.bits->intersects(profile.promised());
  return std::any_of(set.nodes.begin(), set.nodes.end(),
                     [&](NodeIndex node) { return profile.promised(node); });
}

bool promised(const Placement& placement, const Profile& profile) {
  return profile.any_promise() &&
         std::any_of(placement.begin(), placement.end(),
                     [&](const PlacedShare& share) { return profile.promised(share.node); });
}

bool reserved(const Demand& demand, NodeSet set, const ClusterIndex& index) {
  if (!demand.caller.reservations.empty()) return true;
  const Reserved& all = index.reserved();
  return !all.empty() && std::any_of(set.nodes.begin(), set.nodes.end(),
                                     [&](NodeIndex node) { return all.any(node); });
}

bool reserved(const Demand& demand, const Placement& placement, const ClusterIndex& index) {
  if (!demand.caller.reservations.empty()) return true;
  const Reserved& all = index.reserved();
  return !all.empty() && std::any_of(placement.begin(), placement.end(),
                                     [&](const PlacedShare& share) { return all.any(share.node); });
}

std::optional<EarliestStart> earliest(const Demand& demand, std::optional<Seconds> limit,
                                      NodeSet set, const ClusterIndex& index,
                                      const Profile& profile, Work& work, Time from) {
  work.spend(set.nodes.size());
  Moments moments(demand, limit, set, index, profile, from);
  const auto at = [&](Time start) {
    return fit_between(demand, moments.nodes(), index, profile, start,
                       Profile::end_of(start, limit), work);
  };
  std::size_t first = 0;
  if (promised(set, profile) || reserved(demand, set, index)) {
    for (; first < kTimesTried && moments.at(first) && !work.exhausted(); ++first)
      if (auto placement = at(*moments.at(first)))
        return EarliestStart{*moments.at(first), *std::move(placement)};
  }
  // Past the last promise nothing is taken any more: what fits at one time fits at every later one.
  return first_fit(moments, first, at, work);
}

void keep_even_shares(const Demand& demand, const ClusterIndex& index, Placement& placement) {
  if (!demand.limited()) return;
  Amounts most(index.stride(), 0);
  for (const PlacedShare& share : placement)
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], share.amounts[i]);
  for (PlacedShare& share : placement) {
    const Amounts& total = index.nodes()[share.node].total;
    for (std::size_t i = 0; i < most.size(); ++i)
      share.amounts[i] = std::max(share.amounts[i], std::min(most[i], total[i]));
  }
}

namespace {

// Whether GPUs that are linked as asked are free then, no count can tell. So nobody else is promised, or given, any that are free
// there from then on: sooner or later the right ones are among them. What plugins go by may be anything that is free.
void keep_all_gpus(const Demand& demand, std::optional<Seconds> limit, const ClusterIndex& index,
                   const Profile& profile, EarliestStart& promise) {
  const bool plugged = demand.plugged && demand.plugged->changes();
  if (demand.gpu_constraint.none() && !plugged) return;
  Amounts free(index.stride());
  for (PlacedShare& share : promise.placement) {
    profile.least(share.node, promise.at, Profile::end_of(promise.at, limit), free);
    for (std::size_t column = plugged ? 0 : kFirstGpu; column < free.size(); ++column)
      if (plugged || share.amounts[column] > 0)
        share.amounts[column] = std::max(share.amounts[column], free[column]);
  }
}

}  // namespace

void keep_for(const Demand& demand, std::optional<Seconds> limit, const ClusterIndex& index,
              const Profile& profile, EarliestStart& promise) {
  if (demand.caller.alone)  // nobody else is to come before it has
    for (PlacedShare& share : promise.placement) share.amounts = index.nodes()[share.node].total;
  keep_even_shares(demand, index, promise.placement);
  keep_all_gpus(demand, limit, index, profile, promise);
}

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
