// A set of small numbers below a size given at run time, one bit each: CPUs of a node, nodes of a
// cluster. A plain value; any thread, one at a time for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares {

class Bitset {
 public:
  Bitset() = default;
  explicit Bitset(std::size_t size, bool value = false);

  // The lowest number that cannot be a member.
  std::size_t size() const { return size_; }
  // Added numbers are not members; members at or above `size` are dropped.
  void resize(std::size_t size);

  // Precondition of test(), set() and reset(): index < size().
  bool test(std::size_t index) const { return (words_[index / 64] >> (index % 64) & 1) != 0; }
  void set(std::size_t index) { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
  void reset(std::size_t index) { words_[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }

  void set_all();
  void reset_all();

  std::size_t count() const;
  bool any() const;
  bool none() const { return !any(); }

  // The smallest member at or above `from`.
  std::optional<std::size_t> find(std::size_t from = 0) const;

  // The `n` smallest members, or nothing if there are fewer.
  std::optional<Bitset> first_n(std::size_t n) const;

  // Precondition of the functions below: both sets have the same size.
  Bitset& operator|=(const Bitset& other);
  Bitset& operator&=(const Bitset& other);
  Bitset& andnot(const Bitset& other);  // removes the members of `other`
  bool intersects(const Bitset& other) const;
  bool contains(const Bitset& other) const;  // whether `other` is a subset of this
  std::size_t count_and(const Bitset& other) const;

  friend Bitset operator|(Bitset a, const Bitset& b) { return a |= b; }
  friend Bitset operator&(Bitset a, const Bitset& b) { return a &= b; }
  friend bool operator==(const Bitset&, const Bitset&) = default;

  // Calls visit(index) for each member in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::optional<std::size_t> i = find(); i; i = find(*i + 1)) visit(*i);
  }

 private:
  void clear_tail();  // clears the bits at and above size(), on which count() and == rely

  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

// "0-3,8", the format of cpuset files; "" for the empty set.
std::string format_bitset(const Bitset& set);

// The reverse. Also accepts a trailing newline, as in kernel files, and a step ("0-6:2").
// invalid_argument for anything else and for numbers at or above `size`.
Result<Bitset> parse_bitset(std::string_view text, std::size_t size);

}  // namespace ares
