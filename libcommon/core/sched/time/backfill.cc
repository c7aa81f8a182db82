#include "core/sched/time/backfill.h"

#include <algorithm>
#include <utility>

#include "core/sched/place/devices.h"
#include "core/sched/place/fit.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/place/shortlist.h"
#include "core/sched/place/unrestricted_cpus.h"
#include "core/sched/time/candidate_start_times.h"

namespace ares::core::sched {
namespace {

// Between reservations and planned starts free amounts rise and fall, so times are tried one by
// one, but no more than this number.
constexpr std::size_t kTimesTried = 200;

// The nodes of the set that matter in [from, to); stored in `list`.
NodeSet shortlisted_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                            const Profile& profile, Time from, std::optional<Time> to,
                            std::vector<NodeIndex>& list) {
  Shortlist shortlist(demand, set.nodes.size());
  Amounts row(index.stride());
  for (const NodeIndex at : set.nodes) {
    if (!profile.admits(at, demand.access, from, to)) continue;
    if (from <= profile.now() && !profile.touched(at)) {
      shortlist.add(at, index.capacity_buckets().free(at), index.nodes()[at].total);
      continue;
    }
    profile.min_free(at, from, to, row);
    if (from <= profile.now()) cap_restricted(index, index.nodes()[at], row);
    shortlist.add(at, row, index.nodes()[at].total);
  }
  list = shortlist.best();
  return {list, {}};
}

// Whether a job that ends at `to` may join the device: it ends before the other sharers do, or the
// device has no planned start from then on.
bool may_join_until(const Profile& profile, NodeIndex at, const SharedGpu& device,
                    std::optional<Time> to, std::size_t stride) {
  const auto until = profile.shared_until(at, device.gpu);
  if (!until) return false;
  if (to && *to <= *until) return true;
  Amounts free(stride);
  profile.min_free(at, *until, to, free);
  return free[device.column] > 0;
}

// The first of the times, from position `low` on, at which the demand fits, provided that it also
// fits at every later one. Searches near the beginning first, because where one node is enough it
// fits at the first time.
template <class At>
std::optional<EarliestStart> first_fit(CandidateStartTimes& times, std::size_t low, At&& at,
                                       const SearchBudget& work) {
  std::optional<EarliestStart> found;
  std::size_t high = low;
  for (std::size_t step = 1; times.at(high) && !work.exhausted(); step *= 2) {
    if (auto placement = at(*times.at(high))) {
      found = EarliestStart{*times.at(high), *std::move(placement)};
      break;
    }
    low = high + 1;
    high = times.at(high + step) ? high + step : std::max(low, times.count() - 1);
  }
  while (found && low < high && !work.exhausted()) {
    const std::size_t middle = low + (high - low) / 2;
    auto placement = at(*times.at(middle));
    if (!placement) {
      low = middle + 1;
      continue;
    }
    high = middle;
    found = EarliestStart{*times.at(middle), *std::move(placement)};
  }
  return work.exhausted() ? std::nullopt : std::move(found);
}

}  // namespace

std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     SearchBudget& work, JoinShared joining) {
  work.spend(set.nodes.size());
  std::vector<NodeIndex> list;
  if (from <= profile.now()) set = with_capacity_now(demand, set, index, list);
  // Which devices will be free later is not computed. The search assumes the best ones, so an
  // expected start may be too early.
  const GpusOf which = from == profile.now() ? GpusOf::free_now : GpusOf::node;
  std::vector<NodeIndex> allowed;
  set = without_refused(demand, set, which, index, allowed);
  std::vector<NodeIndex> shorter;
  if (set.required.empty() && Shortlist::suits(demand))
    set = shortlisted_between(demand, set, index, profile, from, to, shorter);
  const std::size_t stride = index.stride();
  const bool joins = demand.gpu_part > 0 && joining == JoinShared::now && from == profile.now();
  const auto stays_free = [&](NodeIndex at, const SharedGpu& device) {
    return may_join_until(profile, at, device, to, stride);
  };
  std::vector<std::int64_t> free(set.nodes.size() * stride), left(joins ? free.size() : 0);
  std::vector<NodeOffer> offers;
  offers.reserve(set.nodes.size());
  for (std::size_t i = 0; i < set.nodes.size(); ++i) {
    const NodeIndex at = set.nodes[i];
    if (!profile.admits(at, demand.access, from, to)) {
      if (is_required(set, at)) return std::nullopt;
      continue;
    }
    const std::span<std::int64_t> row(free.data() + i * stride, stride);
    profile.min_free(at, from, to, row);
    if (from <= profile.now()) cap_restricted(index, index.nodes()[at], row);
    cap_gpus(demand, index.nodes()[at], which, index, row);
    if (row[kCpus] <= 0 && !is_required(set, at)) continue;
    offers.push_back({at, row, index.nodes()[at].total, is_required(set, at),
                      plugin_score_of(demand, at, which)});
    if (which == GpusOf::free_now && looks_at_take(demand.strategy))
      offers.back().shared = index.nodes()[at].shared;
    if (!joins || index.nodes()[at].shared.empty()) continue;
    offers.back().left = std::span(left).subspan(i * stride, stride);
    add_joinable(demand, index.nodes()[at], row, std::span(left).subspan(i * stride, stride),
                 [&](const SharedGpu& device) { return stays_free(at, device); });
  }
  if (!has_required(offers, set)) return std::nullopt;
  auto placement = fit(demand, offers);
  if (!placement || demand.gpu_part == 0 || joining == JoinShared::never) return placement;
  name_devices(index, *placement, [&](NodeIndex at, const SharedGpu& device) {
    return joins && stays_free(at, device);
  });
  return placement;
}

bool has_planned_start(NodeSet set, const Profile& profile) {
  if (!profile.any_planned_start()) return false;
  if (set.bits) return set.bits->intersects(profile.nodes_with_planned_starts());
  return std::any_of(set.nodes.begin(), set.nodes.end(),
                     [&](NodeIndex node) { return profile.has_planned_start(node); });
}

bool has_planned_start(const Placement& placement, const Profile& profile) {
  return profile.any_planned_start() &&
         std::any_of(placement.begin(), placement.end(), [&](const PlacedShare& share) {
           return profile.has_planned_start(share.node);
         });
}

std::optional<EarliestStart> find_earliest_start(const Demand& demand, std::optional<Seconds> limit,
                                                 NodeSet set, const ClusterIndex& index,
                                                 const Profile& profile, SearchBudget& work,
                                                 Time from) {
  work.spend(set.nodes.size());
  CandidateStartTimes times(demand, limit, set, index, profile, from);
  const auto at = [&](Time start) {
    return fit_between(demand, times.nodes(), index, profile, start, Profile::end_of(start, limit),
                       work);
  };
  std::size_t first = 0;
  if (has_planned_start(set, profile) || affected_by_reservations(demand, set, index)) {
    for (; first < kTimesTried && times.at(first) && !work.exhausted(); ++first)
      if (auto placement = at(*times.at(first)))
        return EarliestStart{*times.at(first), *std::move(placement)};
  }
  // No planned start or reservation reduces free amounts any more, so a demand that fits at one
  // time fits at every later one.
  return first_fit(times, first, at, work);
}

void expand_to_even_shares(const Demand& demand, const ClusterIndex& index, Placement& placement) {
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

// Counts cannot show whether free GPUs have the requested links. All GPUs of the node that are free
// from then on are therefore kept for the planned start, so that the right ones will be among them.
// A plugin may depend on any free amount.
void expand_to_all_gpus(const Demand& demand, std::optional<Seconds> limit,
                        const ClusterIndex& index, const Profile& profile, EarliestStart& planned) {
  const bool plugin_dependent = demand.plugin_class && demand.plugin_class->depends_on_free();
  if (demand.gpu_constraint.none() && !plugin_dependent) return;
  Amounts free(index.stride());
  for (PlacedShare& share : planned.placement) {
    profile.min_free(share.node, planned.at, Profile::end_of(planned.at, limit), free);
    for (std::size_t column = plugin_dependent ? 0 : kFirstGpu; column < index.gpu_end(); ++column)
      if (plugin_dependent || share.amounts[column] > 0)
        share.amounts[column] = std::max(share.amounts[column], free[column]);
  }
}

}  // namespace

void expand_planned_start(const Demand& demand, std::optional<Seconds> limit,
                          const ClusterIndex& index, const Profile& profile,
                          EarliestStart& planned) {
  // No other job may use the nodes before it starts.
  if (demand.access.exclusive_user)
    for (PlacedShare& share : planned.placement) share.amounts = index.nodes()[share.node].total;
  expand_to_even_shares(demand, index, planned.placement);
  expand_to_all_gpus(demand, limit, index, profile, planned);
}

}  // namespace ares::core::sched
