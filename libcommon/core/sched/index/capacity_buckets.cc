#include "core/sched/index/capacity_buckets.h"

#include <algorithm>
#include <bit>

#include "core/sched/index/amounts.h"

namespace ares::core::sched {
namespace {

// Each amount below 16 has a bucket of its own.
constexpr int kExactBits = 4;
// Above that, eight buckets between each power of two and the next.
constexpr int kFractionBits = 3;
constexpr std::int64_t kMemoryUnit = std::int64_t{64} << 20;

// Ascending with the amount; 0 for an amount of zero or less.
std::size_t bucket_of(std::size_t column, std::int64_t amount) {
  if (amount <= 0) return 0;
  const auto value = static_cast<std::uint64_t>(column == kMemory ? amount / kMemoryUnit : amount);
  const int exponent = static_cast<int>(std::bit_width(value)) - 1;
  if (exponent < kExactBits) return value;
  const std::uint64_t fraction = value >> (exponent - kFractionBits) & ((1u << kFractionBits) - 1);
  return (1u << kExactBits) + (static_cast<std::size_t>(exponent - kExactBits) << kFractionBits) +
         fraction;
}

}  // namespace

CapacityBuckets::CapacityBuckets(std::size_t nodes, std::size_t stride)
    : nodes_(nodes),
      stride_(stride),
      free_(nodes * stride, 0),
      bucket_(nodes * stride, 0),
      at_least_(stride) {}

void CapacityBuckets::set(std::size_t node, std::span<const std::int64_t> free) {
  std::copy_n(free.begin(), stride_, free_.begin() + static_cast<std::ptrdiff_t>(node * stride_));
  for (std::size_t column = 0; column < stride_; ++column) {
    std::uint16_t& was = bucket_[node * stride_ + column];
    const std::size_t is = bucket_of(column, free[column]);
    std::vector<Bitset>& buckets = at_least_[column];
    while (buckets.size() < is) buckets.emplace_back(nodes_);
    for (std::size_t bucket = was; bucket < is; ++bucket) buckets[bucket].set(node);
    for (std::size_t bucket = is; bucket < was; ++bucket) buckets[bucket].reset(node);
    was = static_cast<std::uint16_t>(is);
  }
}

void CapacityBuckets::retain_at_least(std::size_t column, std::int64_t amount,
                                      Bitset& nodes) const {
  const std::size_t bucket = bucket_of(column, amount);
  if (bucket == 0) return;
  if (bucket > at_least_[column].size())
    nodes.reset_all();
  else
    nodes &= at_least_[column][bucket - 1];
}

}  // namespace ares::core::sched
