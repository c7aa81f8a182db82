// A set of 32-bit numbers stored as sorted intervals: a million tasks of a job array take
// a few bytes. A plain value; any thread, one at a time for each object.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares {

// The separate ranges that a list has at most where the caller sets no limit of its own.
inline constexpr std::size_t kMaxIntervals = 1'000'000;

class IntervalSet {
 public:
  // Both ends are included.
  struct Interval {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  // Iterates over the numbers in ascending order. Invalidated by every change of the set.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::uint32_t;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::uint32_t*;
    using reference = std::uint32_t;

    Iterator() = default;
    std::uint32_t operator*() const { return value_; }
    Iterator& operator++() {
      if (value_ == at_->last) {
        ++at_;
        value_ = at_ == end_ ? 0 : at_->first;
      } else {
        ++value_;
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.at_ == b.at_ && a.value_ == b.value_;
    }

   private:
    friend class IntervalSet;
    Iterator(const Interval* at, const Interval* end)
        : at_(at), end_(end), value_(at == end ? 0 : at->first) {}

    const Interval* at_ = nullptr;
    const Interval* end_ = nullptr;
    std::uint32_t value_ = 0;
  };

  IntervalSet() = default;

  // Precondition of both: first <= last.
  void insert(std::uint32_t first, std::uint32_t last);
  void erase(std::uint32_t first, std::uint32_t last);
  void insert(std::uint32_t value) { insert(value, value); }
  void erase(std::uint32_t value) { erase(value, value); }
  void clear() { intervals_.clear(); }

  bool contains(std::uint32_t value) const;
  bool empty() const { return intervals_.empty(); }
  std::uint64_t count() const;

  // Smallest and largest number. Precondition: not empty.
  std::uint32_t front() const { return intervals_.front().first; }
  std::uint32_t back() const { return intervals_.back().last; }

  Iterator begin() const { return {intervals_.data(), intervals_.data() + intervals_.size()}; }
  Iterator end() const {
    const Interval* end = intervals_.data() + intervals_.size();
    return {end, end};
  }

  // Ascending, disjoint and not adjacent.
  std::span<const Interval> intervals() const { return intervals_; }

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  std::vector<Interval> intervals_;
};

// A comma-separated list of NUMBER, FIRST-LAST and FIRST-LAST:STEP, in any order, overlaps allowed.
// invalid_argument, naming the column, for anything else, an empty list, numbers above `max`, and a
// list of more than `most` separate ranges. Time and memory grow with the length of the text and with
// `most`, not with the numbers that a short text such as "0-4294967294:2" stands for.
Result<IntervalSet> parse_interval_set(std::string_view text, std::uint32_t max = 0xffff'fffe,
                                       std::size_t most = kMaxIntervals);

// "0-3,7". Three or more single numbers with equal distances become "0-12:4". parse_interval_set
// returns the same set. An empty set is "".
std::string format_interval_set(const IntervalSet& set);

}  // namespace ares
