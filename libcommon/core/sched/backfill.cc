#include "core/sched/backfill.h"

#include <algorithm>
#include <utility>

#include "core/sched/devices.h"

namespace ares::core::sched {
namespace {

// Between reservations the free amounts rise and fall, so times are tried one by one, but not more
// than these.
constexpr std::size_t kTimesTried = 200;

bool is_required(NodeSet set, NodeIndex node) {
  return std::binary_search(set.required.begin(), set.required.end(), node);
}

// No job gets along with fewer CPUs. Never more than it can need.
std::int64_t fewest_cpus(const Demand& demand) {
  return std::max(std::int64_t{demand.tasks} * demand.cpus_per_task,
                  std::int64_t{demand.min_nodes} * demand.min_cpus_per_node);
}

// `from`, or now if that is past, and all later moments at which something changes on the nodes; of these only such at which
// there are as many free CPUs in all as the demand needs, for nothing fits at the others.
std::vector<Time> moments(const Demand& demand, NodeSet set, const ClusterIndex& index,
                          const Profile& profile, Time from) {
  struct Change {
    Time at;
    std::int64_t cpus;
  };
  from = std::max(from, profile.now());
  std::int64_t free = 0;
  std::vector<Change> changes;
  for (const NodeIndex node : set.nodes) {
    free += index.nodes()[node].free[kCpus];
    profile.each_change(node, [&](Time at, std::int64_t cpus) {
      if (at <= from)
        free += cpus;
      else
        changes.push_back({at, cpus});
    });
    index.reserved().each_change(node, from, [&](Time at) { changes.push_back({at, 0}); });
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  const std::int64_t needed = fewest_cpus(demand);
  std::vector<Time> times;
  if (free >= needed) times.push_back(from);
  for (std::size_t i = 0; i < changes.size();) {
    const Time at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) free += changes[i].cpus;
    if (free >= needed) times.push_back(at);
  }
  return times;
}

// The first of the times, from the position on, at which it fits, if it does at every later one as well. Looked for near the
// beginning first: where CPUs are all that is scarce it is the first.
template <class At>
std::optional<EarliestStart> first_fit(const std::vector<Time>& times, std::size_t low, At&& at,
                                       const Work& work) {
  std::optional<EarliestStart> found;
  std::size_t high = low;
  for (std::size_t step = 1; high < times.size() && !work.exhausted(); step *= 2) {
    if (auto placement = at(times[high])) {
      found = EarliestStart{times[high], *std::move(placement)};
      break;
    }
    low = high + 1;
    high = high + 1 == times.size() ? times.size() : std::min(high + step, times.size() - 1);
  }
  while (found && low < high && !work.exhausted()) {
    const std::size_t middle = low + (high - low) / 2;
    auto placement = at(times[middle]);
    if (!placement) {
      low = middle + 1;
      continue;
    }
    high = middle;
    found = EarliestStart{times[middle], *std::move(placement)};
  }
  return work.exhausted() ? std::nullopt : std::move(found);
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
  std::int64_t cpus = 0;
  for (const NodeIndex at : set.nodes) cpus += free_of(index.nodes()[at])[kCpus];
  if (cpus < fewest_cpus(demand)) return std::nullopt;
  if (set.required.empty() && OneNode::suits(demand)) {
    OneNode one(demand, index.stride());
    for (const NodeIndex at : set.nodes) {
      const IndexedNode& node = index.nodes()[at];
      if (admits(node)) one.offer({at, free_of(node), node.total});
    }
    return one.placement();
  }
  const bool capped = !demand.gpu_constraint.none();
  const GpusOf which = against == Against::totals ? GpusOf::node : GpusOf::free_now;
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
    rooms.push_back({at, free, node.total, is_required(set, at)});
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
    if (!profile.admits(at, demand.caller, from, to)) {
      if (is_required(set, at)) return std::nullopt;
      continue;
    }
    const std::span<std::int64_t> row(free.data() + i * stride, stride);
    profile.least(at, from, to, row);
    // Which GPUs will be free later nobody reckons out: as if they were the best ones, so that a start may be expected too early.
    cap_gpus(demand, index.nodes()[at], from == profile.now() ? GpusOf::free_now : GpusOf::node,
             index, row);
    if (row[kCpus] <= 0 && !is_required(set, at)) continue;
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
  const std::vector<Time> times = moments(demand, set, index, profile, from);
  const auto at = [&](Time start) {
    return fit_between(demand, set, index, profile, start, Profile::end_of(start, limit), work);
  };
  std::size_t first = 0;
  if (promised(set, profile) || reserved(demand, set, index)) {
    for (; first < times.size() && first < kTimesTried && !work.exhausted(); ++first)
      if (auto placement = at(times[first]))
        return EarliestStart{times[first], *std::move(placement)};
  }
  // Past the last promise nothing is taken any more: what fits at one time fits at every later one.
  return first_fit(times, first, at, work);
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

Promises::Line& Promises::line(const Partition* partition) {
  const auto [found, added] = lines_.try_emplace(partition);
  if (added) {
    const auto own = policy_.backfill_of.find(partition->name);
    found->second.rule = own == policy_.backfill_of.end() ? policy_.backfill : own->second;
  }
  return found->second;
}

bool Promises::waits(const Partition* partition) {
  Line& here = line(partition);
  any_closed_ = any_closed_ || here.rule.kind == BackfillKind::none;
  return !std::exchange(here.waiting, true);
}

bool Promises::grant(const Partition* partition) {
  Line& here = line(partition);
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

bool Promises::closed(const Partition* partition) const {
  if (!any_closed_) return false;
  const auto found = lines_.find(partition);
  return found != lines_.end() && found->second.waiting &&
         found->second.rule.kind == BackfillKind::none;
}

Time Promises::not_before(const Partition* partition) const {
  const auto found = lines_.find(partition);
  return found != lines_.end() && found->second.rule.kind == BackfillKind::none ? found->second.last
                                                                                : Time::min();
}

void Promises::note_start(const Partition* partition, Time at) {
  line(partition).last = at;
}

}  // namespace ares::core::sched
