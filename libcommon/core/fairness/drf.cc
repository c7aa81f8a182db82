#include "core/fairness/drf.h"

#include <algorithm>
#include <limits>

#include "core/fairness/wide.h"

namespace ares::core::fairness {

double DominantShare::value() const {
  if (weight == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(used) / static_cast<double>(capacity) / static_cast<double>(weight);
}

int compare(const DominantShare& a, const DominantShare& b) {
  if (a.weight == 0 || b.weight == 0)
    return static_cast<int>(a.weight == 0) - static_cast<int>(b.weight == 0);
  const auto order = wide_product(a.used, U128{b.capacity} * b.weight) <=>
                     wide_product(b.used, U128{a.capacity} * a.weight);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

DominantShare dominant_share(std::span<const std::int64_t> used,
                             std::span<const std::int64_t> capacity, std::uint64_t weight) {
  DominantShare most{0, 1, weight};
  for (std::size_t i = 0; i < std::min(used.size(), capacity.size()); ++i) {
    if (used[i] <= 0 || capacity[i] <= 0) continue;
    const auto here = static_cast<std::uint64_t>(used[i]);
    const auto all = static_cast<std::uint64_t>(capacity[i]);
    if (U128{here} * most.capacity <= U128{most.used} * all) continue;
    most.used = here;
    most.capacity = all;
  }
  return most;
}

bool ProgressiveFilling::behind(const HeapEntry& a, const HeapEntry& b) {
  const int order = compare(a.share, b.share);
  return order != 0 ? order > 0 : a.user > b.user;
}

void ProgressiveFilling::add(User user, const DominantShare& share) {
  heap_.push_back({share, user});
  std::push_heap(heap_.begin(), heap_.end(), behind);
}

std::optional<ProgressiveFilling::User> ProgressiveFilling::next() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().user;
}

void ProgressiveFilling::serve(const DominantShare& share) {
  std::pop_heap(heap_.begin(), heap_.end(), behind);
  heap_.back().share = share;
  std::push_heap(heap_.begin(), heap_.end(), behind);
}

void ProgressiveFilling::drop() {
  std::pop_heap(heap_.begin(), heap_.end(), behind);
  heap_.pop_back();
}

}  // namespace ares::core::fairness
