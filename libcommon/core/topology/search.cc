#include "core/topology/search.h"

#include <algorithm>
#include <functional>

namespace ares::core::topology {
namespace {

// Steps for one level, a few milliseconds. No recorded machine needs more than a hundred; 16 GPUs
// without symmetry need some thousands.
constexpr unsigned kMaxSteps = 20'000;

// The sum of the `n` largest of `scores`.
Score sum_of_greatest(std::array<Score, kMaxGpus>& scores, std::size_t size, unsigned n) {
  const auto begin = scores.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(size);
  if (n < size) std::nth_element(begin, begin + n, end, std::greater<>{});
  Score sum;
  for (std::size_t i = 0; i < n; ++i) sum = sum + scores[i];
  return sum;
}

}  // namespace

Search::Search(const MachineTopology& machine, GpuSet free, unsigned count, Shape shape)
    : machine_(machine), free_(free), count_(count), shape_(shape) {
  for (const unsigned gpu : free_) {
    degree_[gpu] = 0;
    for (const unsigned other : free_) degree_[gpu] += machine_.weight(gpu, other);
  }
}

// Removes GPUs with too few neighbours for a clique of that size, until no more can be removed.
GpuSet Search::candidates(const MachineTopology::Level& level) {
  GpuSet left = free_;
  for (const unsigned gpu : free_)
    neighbours_[gpu] = level.partners[gpu] & machine_.compatible_gpus(shape_, gpu) & free_;
  if (shape_ == Shape::nvswitch)  // Any two by equally many NVLinks: those of this level.
    for (const unsigned gpu : free_)
      for (const unsigned other : neighbours_[gpu])
        if (bandwidth(machine_.link(gpu, other)) != level.bandwidth) neighbours_[gpu].erase(other);
  for (bool changed = true; changed;) {
    changed = false;
    for (const unsigned gpu : left) {
      if ((neighbours_[gpu] & left).count() + 1 >= count_) continue;
      left.erase(gpu);
      changed = true;
    }
  }
  return left;
}

void Search::prepare_bounds(GpuSet candidates) {
  for (const unsigned gpu : candidates) {
    PerGpu& sums = nearest_[gpu];
    std::size_t size = 0;
    for (const unsigned other : candidates& neighbours_[gpu])
      sums[size++] = machine_.weight(gpu, other);
    std::sort(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(size), std::greater<>{});
    std::int64_t sum = 0;
    for (std::size_t n = 0; n < count_; ++n) {
      const std::int64_t next = n < size ? sums[n] : 0;
      sums[n] = sum;
      sum += next;
    }
  }
}

std::optional<GpuSet> Search::best(const MachineTopology::Level& level) {
  level_steps_ = 0;
  best_.reset();
  const GpuSet all = candidates(level);
  if (all.count() < count_) return std::nullopt;
  prepare_bounds(all);
  Partial none;
  for (const unsigned gpu : all) none.linked[gpu] = 0;
  extend(none, all, count_);
  return best_;
}

// Pairs count twice, so a new member adds twice its weight to the others.
Score Search::gain(const Partial& partial, unsigned gpu) const {
  return {2 * partial.linked[gpu], -degree_[gpu]};
}

// Upper bound: the best `missing` candidates, each with its heaviest links to other candidates.
bool Search::can_improve(const Partial& partial, GpuSet rest, unsigned missing) const {
  if (!best_) return true;
  std::array<Score, kMaxGpus> bounds;
  std::size_t size = 0;
  for (const unsigned gpu : rest)
    bounds[size++] = gain(partial, gpu) + Score{nearest_[gpu][missing - 1], 0};
  return partial.score + sum_of_greatest(bounds, size, missing) > best_score_;
}

// Tries candidates in ascending order: of equal sets the one with the lowest numbers is kept.
void Search::extend(const Partial& partial, GpuSet rest, unsigned missing) {
  if (missing == 0) return consider(partial);
  while (rest.count() >= missing) {
    ++steps_;
    if (++level_steps_ > kMaxSteps) {
      gave_up_ = true;
      return;
    }
    if (!can_improve(partial, rest, missing)) return;
    const unsigned gpu = rest.lowest();
    rest.erase(gpu);
    Partial more;
    more.gpus = partial.gpus | GpuSet::of(gpu);
    more.score = partial.score + gain(partial, gpu);
    const GpuSet onward = rest & neighbours_[gpu];
    for (const unsigned other : onward)
      more.linked[other] = partial.linked[other] + machine_.weight(gpu, other);
    extend(more, onward, missing - 1);
    // A set with one of these instead of `gpu` is not better.
    rest = rest - machine_.interchangeable_gpus(gpu);
  }
}

void Search::consider(const Partial& partial) {
  if (best_ && partial.score <= best_score_) return;
  if (shape_ == Shape::nvlink && !nvlinked(machine_, partial.gpus)) return;
  best_ = partial.gpus;
  best_score_ = partial.score;
}

bool nvlinked(const MachineTopology& machine, GpuSet gpus) {
  if (gpus.empty()) return true;
  GpuSet found;
  GpuSet border = gpus.lowest(1);
  while (!border.empty()) {
    const unsigned gpu = border.lowest();
    border.erase(gpu);
    found.insert(gpu);
    for (const unsigned other : gpus - found)
      if (machine.link(gpu, other).nvlinks > 0) border.insert(other);
  }
  return found == gpus;
}

}  // namespace ares::core::topology
