// Natural numbers of any size, simple and slow, to check exact arithmetic against. For tests only.
#pragma once

#include <cstdint>
#include <vector>

namespace ares::core::fairness {

struct Big {
  std::vector<std::uint32_t> digits;  // base 2^16, least significant first, no leading zeros
  Big() = default;
  explicit Big(std::uint64_t value) {
    for (; value > 0; value >>= 16) digits.push_back(static_cast<std::uint32_t>(value & 0xffff));
  }
};

inline Big operator*(const Big& a, const Big& b) {
  Big out;
  out.digits.assign(a.digits.size() + b.digits.size(), 0);
  for (std::size_t i = 0; i < a.digits.size(); ++i) {
    std::uint32_t carry = 0;
    for (std::size_t j = 0; j < b.digits.size() || carry > 0; ++j) {
      const std::uint64_t sum =
          std::uint64_t{out.digits[i + j]} + carry +
          (j < b.digits.size() ? std::uint64_t{a.digits[i]} * b.digits[j] : 0);
      out.digits[i + j] = static_cast<std::uint32_t>(sum & 0xffff);
      carry = static_cast<std::uint32_t>(sum >> 16);
    }
  }
  while (!out.digits.empty() && out.digits.back() == 0) out.digits.pop_back();
  return out;
}

inline int compare_big(const Big& a, const Big& b) {
  if (a.digits.size() != b.digits.size()) return a.digits.size() < b.digits.size() ? -1 : 1;
  for (std::size_t i = a.digits.size(); i-- > 0;)
    if (a.digits[i] != b.digits[i]) return a.digits[i] < b.digits[i] ? -1 : 1;
  return 0;
}

}  // namespace ares::core::fairness
