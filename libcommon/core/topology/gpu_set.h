// A set of GPUs of one machine, by number: a bit mask in one word.
// A plain value; any thread.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::core::topology {

// GPU numbers are below this. The largest machines on the market have 32.
inline constexpr unsigned kMaxGpus = 64;

class GpuSet {
 public:
  constexpr GpuSet() = default;
  constexpr explicit GpuSet(std::uint64_t bits) : bits_(bits) {}
  static constexpr GpuSet of(unsigned gpu) { return GpuSet(std::uint64_t{1} << gpu); }
  // 0 to count-1. Precondition: count <= kMaxGpus.
  static constexpr GpuSet first(unsigned count) {
    return GpuSet(count == kMaxGpus ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr unsigned count() const { return static_cast<unsigned>(std::popcount(bits_)); }
  constexpr bool contains(unsigned gpu) const { return (bits_ >> gpu & 1) != 0; }
  constexpr bool contains(GpuSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr void insert(unsigned gpu) { bits_ |= std::uint64_t{1} << gpu; }
  constexpr void erase(unsigned gpu) { bits_ &= ~(std::uint64_t{1} << gpu); }
  // Precondition: not empty.
  constexpr unsigned lowest() const { return static_cast<unsigned>(std::countr_zero(bits_)); }
  // The `n` lowest members. Precondition: n <= count().
  constexpr GpuSet lowest(unsigned n) const {
    std::uint64_t rest = bits_;
    for (; n > 0; --n) rest &= rest - 1;
    return GpuSet(bits_ & ~rest);
  }

  friend constexpr GpuSet operator|(GpuSet a, GpuSet b) { return GpuSet(a.bits_ | b.bits_); }
  friend constexpr GpuSet operator&(GpuSet a, GpuSet b) { return GpuSet(a.bits_ & b.bits_); }
  friend constexpr GpuSet operator-(GpuSet a, GpuSet b) { return GpuSet(a.bits_ & ~b.bits_); }
  friend constexpr bool operator==(GpuSet, GpuSet) = default;

  // Iterates over the members in ascending order: for (const unsigned gpu : set).
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint64_t rest) : rest_(rest) {}
    constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(rest_)); }
    constexpr Iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint64_t rest_;
  };
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }

 private:
  std::uint64_t bits_ = 0;
};

// "0-3,6"; "" for the empty set.
std::string format_gpu_set(GpuSet set);

// The inverse. invalid_argument for other text, an empty list, and numbers from kMaxGpus on.
Result<GpuSet> parse_gpu_set(std::string_view text);

}  // namespace ares::core::topology
