// Memory sizes: the type Bytes, and the formats that users write and read ("4G", "1500").
// Plain values and pure functions; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares {

// An amount of memory. Signed, so that differences can be computed; a parsed amount is never
// negative.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}

  static constexpr Bytes kib(std::int64_t n) { return Bytes(n << 10); }
  static constexpr Bytes mib(std::int64_t n) { return Bytes(n << 20); }
  static constexpr Bytes gib(std::int64_t n) { return Bytes(n << 30); }

  constexpr std::int64_t value() const { return count_; }

  constexpr Bytes& operator+=(Bytes other) { return count_ += other.count_, *this; }
  constexpr Bytes& operator-=(Bytes other) { return count_ -= other.count_, *this; }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return a -= b; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.count_ * n); }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return a * n; }
  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr bool operator==(Bytes, Bytes) = default;

 private:
  std::int64_t count_ = 0;
};

// Powers of 1024, the usual units of memory in batch systems. The value is the power.
enum class MemoryUnit { B = 0, KiB = 1, MiB = 2, GiB = 3, TiB = 4, PiB = 5 };

// A whole number with an optional unit K, M, G, T, P (either case, "GB" and "GiB" too) or B for
// bytes; a number without unit is in `default_unit`. 0 is returned as 0; its meaning ("all memory
// of the node") is up to the caller. invalid_argument for anything else, negative amounts and
// amounts that do not fit 63 bits.
Result<Bytes> parse_memory(std::string_view text, MemoryUnit default_unit = MemoryUnit::MiB);

// Exact, in the largest unit that divides it: "4G", "1500M", "123B", "0". parse_memory returns the
// same amount.
std::string format_memory(Bytes amount);

// For measured amounts, which need no precision: at most two decimals, "1.50G", "4G", "812K".
std::string format_memory_short(Bytes amount);

}  // namespace ares
