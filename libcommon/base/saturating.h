// Products and sums that stop at the largest number instead of wrapping around: for what users ask for, where a wrapped
// number would pass every check as a small one. Pure functions; any thread.
#pragma once

#include <concepts>
#include <limits>

#include "base/units.h"

namespace ares {

// Precondition of all: neither is negative, or the result fits.
template <std::integral T>
constexpr T capped_product(T a, T b) {
  T product{};
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<T>::max() : product;
}

template <std::integral T>
constexpr T capped_sum(T a, T b) {
  T sum{};
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<T>::max() : sum;
}

template <std::integral N>
constexpr Bytes capped_product(Bytes amount, N count) {
  std::int64_t product{};
  return Bytes(__builtin_mul_overflow(amount.value(), count, &product)
                   ? std::numeric_limits<std::int64_t>::max()
                   : product);
}

}  // namespace ares
