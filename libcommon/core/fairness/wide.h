// 128-bit and 256-bit integers for exact comparison of fractions.
// Pure; plain values, any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace ares::core::fairness {

__extension__ typedef unsigned __int128 U128;

// 256 bits, most significant first, so that member-wise comparison is numeric comparison.
struct U256 {
  U128 high = 0;
  U128 low = 0;
  friend constexpr auto operator<=>(const U256&, const U256&) = default;
};

// Exact product of two 128-bit numbers.
constexpr U256 wide_product(U128 a, U128 b) {
  constexpr U128 kLow = ~std::uint64_t{0};
  const U128 low = (a & kLow) * (b & kLow);
  const U128 cross = (a >> 64) * (b & kLow) + (low >> 64);
  const U128 other = (a & kLow) * (b >> 64) + (cross & kLow);
  return {(a >> 64) * (b >> 64) + (cross >> 64) + (other >> 64), (other << 64) | (low & kLow)};
}

// a * b / 2^shift, rounded down; 2^128 - 1 if that does not fit. `shift` is below 128.
constexpr U128 scaled_product(U128 a, U128 b, int shift) {
  const U256 product = wide_product(a, b);
  if (shift == 0) return product.high == 0 ? product.low : ~U128{0};
  if (product.high >> shift != 0) return ~U128{0};
  return (product.high << (128 - shift)) | (product.low >> shift);
}

// Compares a/b with c/d. Precondition: b and d are not zero.
constexpr std::strong_ordering compare_fractions(U128 a, U128 b, U128 c, U128 d) {
  return wide_product(a, d) <=> wide_product(c, b);
}

}  // namespace ares::core::fairness
