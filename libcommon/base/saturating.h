// Products and sums that stop at the largest or smallest number instead of wrapping around. For amounts
// from users and nodes: a wrapped number would be small and pass every check. Pure functions; any thread.
#pragma once

#include <concepts>
#include <limits>

#include "base/units.h"

namespace ares {

template <std::integral T>
constexpr T capped_product(T a, T b) {
  T product{};
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < T{}) != (b < T{}) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

template <std::integral T>
constexpr T capped_sum(T a, T b) {
  T sum{};
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < T{} ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

// Precondition: neither is negative, or the result fits.
template <std::integral N>
constexpr Bytes capped_product(Bytes amount, N count) {
  std::int64_t product{};
  return Bytes(__builtin_mul_overflow(amount.value(), count, &product)
                   ? std::numeric_limits<std::int64_t>::max()
                   : product);
}

}  // namespace ares
