#include "core/sched/place/fit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/saturating.h"
#include "core/sched/place/fit_nodes.h"

namespace ares::core::sched {
namespace {

std::int64_t useful_gpus(const TypedDemand& typed, const NodeOffer& offer) {
  std::int64_t sum = 0;
  for (std::size_t c = kFirstGpu; c < typed.total.size(); ++c)
    sum += std::min(typed.total[c], offer.free[c] - typed.per_node[c]);
  return sum;
}

std::int64_t spare_gpus(const TypedDemand& typed, const NodeOffer& offer) {
  std::int64_t sum = 0;
  for (std::size_t c = kFirstGpu; c < typed.per_node.size(); ++c)
    sum += offer.free[c] - typed.per_node[c];
  return sum - useful_gpus(typed, offer);
}

std::optional<Placement> fit_typed(const TypedDemand& typed, std::span<const NodeOffer> offers) {
  std::vector<Candidate> candidates;
  candidates.reserve(offers.size());
  std::size_t required = 0;
  for (const NodeOffer& offer : offers) {
    const std::int64_t tasks = task_capacity(typed.demand, typed.per_node, offer, typed.per_task);
    if (tasks == 0) {
      if (offer.required) return std::nullopt;
      continue;
    }
    required += offer.required ? 1 : 0;
    candidates.push_back({&offer, tasks, useful_gpus(typed, offer), spare_gpus(typed, offer)});
  }
  // A demand for GPUs in total is placed on nodes with GPUs, except for required nodes.
  if (typed.total_count > 0 && !typed.demand.tags)
    std::erase_if(candidates, [&](const Candidate& c) {
      return c.gpus == 0 && !c.offer->required && typed.total_count >= typed.demand.min_nodes;
    });
  const auto chosen = choose_nodes(typed, std::move(candidates), required);
  if (!chosen) return std::nullopt;
  return lay_out(typed, *chosen);
}

// Each node gives GPUs of the type of which it has most. They are counted as if all were of the first type.
class MixedOffers {
 public:
  MixedOffers(std::span<const NodeOffer> offers, std::size_t gpu_end)
      : originals_(offers), gpu_end_(gpu_end) {
    const std::size_t stride = offers.front().total.size();
    rows_.reserve(2 * stride * offers.size());
    offers_.assign(offers.begin(), offers.end());
    for (NodeOffer& offer : offers_) {
      const auto gpus = offer.free.subspan(kFirstGpu, gpu_end_ - kFirstGpu);
      columns_.push_back(
          kFirstGpu +
          static_cast<std::size_t>(std::max_element(gpus.begin(), gpus.end()) - gpus.begin()));
      offer.free = of_one_type(offer.free, columns_.back());
      offer.total = of_one_type(offer.total, columns_.back());
    }
  }

  std::span<const NodeOffer> offers() const { return offers_; }

  // The placement with the types that the nodes have.
  Placement with_types(Placement placement, bool exclusive) const {
    for (PlacedShare& share : placement) {
      const auto at = std::find_if(originals_.begin(), originals_.end(),
                                   [&](const NodeOffer& o) { return o.node == share.node; }) -
                      originals_.begin();
      const NodeOffer& offer = originals_[static_cast<std::size_t>(at)];
      const std::int64_t count = std::exchange(share.amounts[kFirstGpu], 0);
      share.amounts[columns_[static_cast<std::size_t>(at)]] = count;
      if (exclusive)
        std::copy_n(offer.total.begin() + kFirstGpu, gpu_end_ - kFirstGpu,
                    share.amounts.begin() + kFirstGpu);
    }
    return placement;
  }

 private:
  std::span<const std::int64_t> of_one_type(std::span<const std::int64_t> row, std::size_t column) {
    const std::size_t begin = rows_.size();
    rows_.insert(rows_.end(), row.begin(), row.end());
    std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>(begin + kFirstGpu),
                gpu_end_ - kFirstGpu, 0);
    rows_[begin + kFirstGpu] = row[column];
    return std::span(rows_).subspan(begin, row.size());
  }

  std::span<const NodeOffer> originals_;
  std::size_t gpu_end_;
  std::vector<std::int64_t> rows_;  // its memory never moves: it was reserved
  std::vector<NodeOffer> offers_;
  std::vector<std::size_t> columns_;  // chosen ones
};

std::optional<Placement> fit_mixed(const Demand& demand, std::span<const NodeOffer> offers) {
  const MixedOffers mixed(offers, demand.gpu_end);
  auto placement = fit_typed(TypedDemand(demand, kFirstGpu), mixed.offers());
  if (!placement) return std::nullopt;
  return mixed.with_types(*std::move(placement), demand.exclusive);
}

std::optional<Placement> fit_offers(const Demand& demand, std::span<const NodeOffer> offers) {
  if (demand.unknown_gpu_type || offers.size() < demand.min_nodes) return std::nullopt;
  if (!demand.wants_any_gpu()) return fit_typed(TypedDemand(demand, std::nullopt), offers);
  // For one node the best node of any type is chosen. For several nodes the first type that is
  // sufficient is chosen.
  const bool any_required = std::any_of(offers.begin(), offers.end(),
                                        [](const NodeOffer& offer) { return offer.required; });
  if (SingleNodeFit::suits(demand) && !any_required) {
    SingleNodeFit one(demand, offers.front().total.size());
    for (const NodeOffer& offer : offers) one.add(offer);
    return one.placement();
  }
  for (std::size_t column = kFirstGpu; column < demand.gpu_end; ++column)
    if (auto placement = fit_typed(TypedDemand(demand, column), offers)) return placement;
  return demand.mixes_gpu_types ? fit_mixed(demand, offers) : std::nullopt;
}

// Places the job on preferred nodes if they hold it, otherwise on any nodes.
std::optional<Placement> fit_preferred(const Demand& demand, std::span<const NodeOffer> offers) {
  if (demand.preferred) {
    std::vector<NodeOffer> some;
    std::copy_if(offers.begin(), offers.end(), std::back_inserter(some),
                 [&](const NodeOffer& offer) {
                   return offer.required || demand.preferred->test(offer.node);
                 });
    if (some.size() < offers.size())
      if (auto placement = fit_offers(demand, some)) return placement;
  }
  return fit_offers(demand, offers);
}

}  // namespace

bool SingleNodeFit::suits(const Demand& demand) {
  return demand.max_nodes == 1 && demand.any_gpus_total == 0 && demand.any_gpus_per_task == 0 &&
         demand.gpus_total.empty() && demand.gpus_per_task.empty() && !demand.tags &&
         demand.limits.segment <= 1 && demand.gpu_constraint.none();
}

SingleNodeFit::SingleNodeFit(const Demand& demand, std::size_t stride)
    : demand_(demand), take_(looks_at_take(demand.strategy) ? stride : 0, 0) {
  if (demand.any_gpus_per_node == 0) types_.emplace_back(demand, std::nullopt);
  for (std::size_t c = kFirstGpu; c < demand.gpu_end && demand.any_gpus_per_node > 0; ++c)
    types_.emplace_back(demand, c);
  by_free_amounts_ = demand.strategy == PlacementStrategy::binpack && demand.gpu_part == 0 &&
                     !demand.preferred && !demand.plugin_class && !demand.overcommit &&
                     !demand.exclusive && !demand.cpu_share && !demand.attempts &&
                     !demand.tmp_disk && !demand.exact && !demand.only_unrestricted &&
                     rule_of(demand) != MemoryRule::whole;
  if (!types_.empty())
    for (const std::int64_t gpus : types_.front().per_node) asked_gpus_ += gpus;
}

bool SingleNodeFit::fits(const NodeOffer& offer) const {
  return !demand_.unknown_gpu_type && demand_.min_nodes <= 1 &&
         std::any_of(types_.begin(), types_.end(), [&](const TypedDemand& typed) {
           return task_capacity(demand_, typed.per_node, offer) >= demand_.tasks;
         });
}

bool SingleNodeFit::is_no_better(std::span<const std::int64_t> free) const {
  if (!by_free_amounts_ || !best_) return false;
  std::int64_t spare = -asked_gpus_;
  for (std::size_t c = kFirstGpu; c < demand_.gpu_end; ++c) spare += free[c];
  if (spare != best_spare_) return spare > best_spare_;
  // Of equal scores the first one counts.
  return more_.met_by(free) || (as_many_.met_by(free) && free[kCpus] >= best_->free[kCpus]);
}

SingleNodeFit::Needs SingleNodeFit::needs_of(std::int64_t tasks) const {
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  if (demand_.tasks_per_node > 0 && tasks > std::int64_t{demand_.tasks_per_node})
    return {kNever, kNever};
  const std::int64_t cpus = capped_product(tasks, std::int64_t{demand_.cpus_per_task});
  return {std::max(cpus, std::int64_t{demand_.min_cpus_per_node}),
          least_memory(demand_, tasks, cpus)};
}

void SingleNodeFit::add(const NodeOffer& offer) {
  for (std::size_t type = 0; type < types_.size(); ++type) {
    const TypedDemand& typed = types_[type];
    const std::int64_t tasks = task_capacity(demand_, typed.per_node, offer);
    if (tasks < demand_.tasks) continue;
    std::int64_t spare = 0;
    for (std::size_t c = kFirstGpu; c < typed.per_node.size(); ++c)
      spare += offer.free[c] - typed.per_node[c];
    if (looks_at_take(demand_.strategy)) charge(typed, offer, demand_.tasks, take_);
    const std::size_t column = demand_.gpu_part > 0 ? part_column(typed) : 0;
    const Score here = score(demand_, {&offer, tasks, spare, take_, column});
    if (best_ && score_ <= here) continue;
    best_ = offer;
    best_spare_ = spare;
    as_many_ = needs_of(tasks);
    more_ = needs_of(tasks + 1);
    best_type_ = type;
    best_tasks_ = tasks;
    score_ = here;
  }
}

std::optional<Placement> SingleNodeFit::placement() const {
  if (!best_ || demand_.unknown_gpu_type || demand_.min_nodes > 1) return std::nullopt;
  const Candidate chosen{&*best_, best_tasks_, 0, 0};
  return lay_out(types_[best_type_], std::span(&chosen, 1));
}

std::optional<Placement> fit(const Demand& demand, std::span<const NodeOffer> offers) {
  if (!demand.tags || demand.tags->alternatives == 0) return fit_preferred(demand, offers);
  for (std::size_t i = 0; i < demand.tags->alternatives; ++i) {
    const auto meets = [&](const NodeOffer& offer) {
      return (demand.tags->of_node[offer.node] >> i & 1) != 0;
    };
    std::vector<NodeOffer> some;
    std::copy_if(offers.begin(), offers.end(), std::back_inserter(some), meets);
    if (std::any_of(offers.begin(), offers.end(),
                    [&](const NodeOffer& offer) { return offer.required && !meets(offer); }))
      continue;
    if (auto placement = fit_preferred(demand, some)) return placement;
  }
  return std::nullopt;
}

}  // namespace ares::core::sched
