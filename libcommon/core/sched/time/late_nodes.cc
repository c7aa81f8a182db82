#include "core/sched/time/late_nodes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ares::core::sched {
namespace {

struct FreeSince {
  Time since;
  NodeIndex node;
};

// The time from which on the node has free, without a break, what it has from `at` until `to`.
class SinceWhen {
 public:
  SinceWhen(const ClusterIndex& index, const Profile& profile, Time at, std::optional<Time> to)
      : profile_(profile), at_(at), to_(to), least_(index.stride()), row_(index.stride()) {}

  Time operator()(NodeIndex node) {
    profile_.min_free(node, at_, to_, least_);
    Time since = profile_.now();
    bool holds = true;
    profile_.each_step(node, profile_.now(), row_, [&](Time time, auto free) {
      if (time > at_) return false;
      const bool enough =
          std::equal(least_.begin(), least_.end(), free.begin(),
                     [](std::int64_t need, std::int64_t has) { return has >= need; });
      if (enough && !holds) since = time;
      holds = enough;
      return true;
    });
    return since;
  }

 private:
  const Profile& profile_;
  Time at_;
  std::optional<Time> to_;
  Amounts least_, row_;
};

}  // namespace

void move_to_late_nodes(const Demand& demand, std::optional<Seconds> limit, NodeSet set,
                        const ClusterIndex& index, const Profile& profile, SearchBudget& work,
                        EarliestStart& planned) {
  if (planned.at <= profile.now()) return;
  SinceWhen since(index, profile, planned.at, Profile::end_of(planned.at, limit));
  const bool could_be_later =
      std::any_of(planned.placement.begin(), planned.placement.end(),
                  [&](const PlacedShare& share) { return since(share.node) < planned.at; });
  if (!could_be_later) return;

  work.spend(set.nodes.size());
  std::vector<FreeSince> latest;
  latest.reserve(set.nodes.size());
  for (const NodeIndex node : set.nodes)
    latest.push_back({is_required(set, node) ? Time::max() : since(node), node});
  std::stable_sort(latest.begin(), latest.end(),
                   [](const FreeSince& a, const FreeSince& b) { return a.since > b.since; });

  // Twice as many each time. Those that come free at the same time are alike.
  for (std::size_t count = planned.placement.size(); count < latest.size(); count *= 2) {
    while (count < latest.size() && latest[count].since == latest[count - 1].since) ++count;
    if (count == latest.size() || work.exhausted()) return;
    std::vector<NodeIndex> nodes;
    for (std::size_t i = 0; i < count; ++i) nodes.push_back(latest[i].node);
    std::sort(nodes.begin(), nodes.end());
    auto placement = fit_between(demand, {nodes, set.required}, index, profile, planned.at,
                                 Profile::end_of(planned.at, limit), work);
    if (!placement) continue;
    planned.placement = *std::move(placement);
    return;
  }
}

}  // namespace ares::core::sched
