#include "core/sched/score.h"

#include <array>
#include <numeric>

#include "base/saturating.h"
#include "core/sched/demand.h"
#include "core/sched/score_fragmentation.h"

namespace ares::core::sched {
namespace {

using Parts = std::array<std::int64_t, 4>;

Parts binpack(const Demand&, const Suitable& node) {
  return {0, node.spare_gpus, node.tasks, node.room->free[kCpus]};
}

Parts spread(const Demand& demand, const Suitable& node) {
  const auto& total = node.room->total;
  const std::int64_t gpus =
      std::accumulate(total.begin() + kFirstGpu, total.end(), std::int64_t{0});
  const std::int64_t first = demand.wants_gpus() ? -node.spare_gpus : gpus > 0;
  return {first, -node.tasks, -node.room->free[kCpus], 0};
}

Parts least_fragmentation(const Demand& demand, const Suitable& node) {
  Parts parts = binpack(demand, node);
  if (demand.mix) parts[0] = demand.mix->growth(node.room->free, node.take);
  return parts;
}

struct Row {
  PlacementStrategy strategy;
  Parts (*parts)(const Demand&, const Suitable&);
};
constexpr Row kRows[] = {{PlacementStrategy::binpack, binpack},
                         {PlacementStrategy::spread, spread},
                         {PlacementStrategy::least_fragmentation, least_fragmentation}};
static_assert(kRows[static_cast<std::size_t>(kLastPlacementStrategy)].strategy ==
              kLastPlacementStrategy);

}  // namespace

Score score(const Demand& demand, const Suitable& node) {
  const Parts parts = kRows[static_cast<std::size_t>(demand.strategy)].parts(demand, node);
  const NodeIndex at = node.room->node;
  const bool avoided = demand.preferred && !demand.preferred->test(at);
  return {avoided,  capped_product<std::int64_t>(node.room->plugged, -1),
          parts[0], parts[1],
          parts[2], parts[3],
          at};
}

}  // namespace ares::core::sched
