// Sums and products that stop at the largest number instead of overflowing: for amounts that come from
// users and nodes and only end up in reports. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <limits>

namespace ares::store {

constexpr std::int64_t saturated(bool negative) {
  return negative ? std::numeric_limits<std::int64_t>::min()
                  : std::numeric_limits<std::int64_t>::max();
}

constexpr std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? saturated(a < 0) : sum;
}

constexpr std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? saturated((a < 0) != (b < 0)) : product;
}

}  // namespace ares::store
