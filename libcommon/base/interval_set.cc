#include "base/interval_set.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/printable.h"

namespace ares {
namespace {

using Interval = IntervalSet::Interval;

// The part of a list that a message quotes, cut between UTF-8 characters.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 100;
  if (text.size() <= kShown) return std::string(text);
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

class ListParser {
 public:
  ListParser(std::string_view text, std::uint32_t max, std::size_t most)
      : text_(text), max_(max), most_(most), most_found_(std::min(kMaxIntervals, 4 * most)) {}

  Result<IntervalSet> parse() {
    for (;;) {
      if (Status item = parse_item(); !item) return fail(item.error());
      if (at_ == text_.size()) return merged();
      if (text_[at_] != ',') return bad("expected a comma");
      ++at_;
    }
  }

 private:
  Status parse_item() {
    const Result<std::uint32_t> first = number();
    if (!first) return fail(first.error());
    if (!take('-')) return add(*first, *first);
    const std::size_t last_at = at_;
    const Result<std::uint32_t> last = number();
    if (!last) return fail(last.error());
    if (*last < *first) return bad("the range ends before it begins", last_at);
    if (!take(':')) return add(*first, *last);
    const std::size_t step_at = at_;
    const Result<std::uint32_t> step = number();
    if (!step) return fail(step.error());
    if (*step == 1) return add(*first, *last);
    if (*step == 0) return bad("the step must be at least 1", step_at);
    const std::size_t more = (*last - *first) / *step;
    if (more >= most_found_ - found_.size()) return too_many(step_at);
    for (std::uint64_t value = *first; value <= *last; value += *step) {
      const auto number = static_cast<std::uint32_t>(value);
      found_.push_back({number, number});
    }
    return {};
  }

  // Joins a range that continues the last one: most lists are in order.
  Status add(std::uint32_t first, std::uint32_t last) {
    if (!found_.empty() && first >= found_.back().first &&
        first <= std::uint64_t{found_.back().last} + 1) {
      found_.back().last = std::max(found_.back().last, last);
      return {};
    }
    if (found_.size() == most_found_) return too_many(at_);
    found_.push_back({first, last});
    return {};
  }

  // In ascending order each range is appended, so no interval is moved.
  Result<IntervalSet> merged() {
    std::sort(found_.begin(), found_.end(),
              [](const Interval& a, const Interval& b) { return a.first < b.first; });
    IntervalSet set;
    for (const Interval& range : found_) set.insert(range.first, range.last);
    if (set.intervals().size() > most_) return too_many(0);
    return set;
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::uint32_t> number() {
    std::uint32_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [rest, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) return bad("expected a number");
    if (error != std::errc{} || value > max_)
      return bad("above the limit of " + std::to_string(max_));
    at_ += static_cast<std::size_t>(rest - begin);
    return value;
  }

  tl::unexpected<Error> too_many(std::size_t at) const {
    return bad("too many numbers: at most " + std::to_string(most_) +
                   " separate ranges are allowed; leave no gaps",
               at);
  }
  tl::unexpected<Error> bad(std::string_view why) const { return bad(why, at_); }
  tl::unexpected<Error> bad(std::string_view why, std::size_t at) const {
    return fail(ErrorCode::invalid_argument, "list " + quote(shown(text_)) + ", column " +
                                                 std::to_string(at + 1) + ": " + std::string(why));
  }

  std::string_view text_;
  std::uint32_t max_;
  std::size_t most_;
  // Ranges that overlap or touch become one only when all are read.
  std::size_t most_found_;
  std::size_t at_ = 0;
  std::vector<Interval> found_;  // in input order
};

}  // namespace

void IntervalSet::insert(std::uint32_t first, std::uint32_t last) {
  // The intervals that overlap or touch [first, last] become one. Sums are 64 bits wide because the
  // largest number plus one does not fit 32 bits.
  const auto from =
      std::partition_point(intervals_.begin(), intervals_.end(),
                           [&](const Interval& i) { return std::uint64_t{i.last} + 1 < first; });
  const auto to = std::partition_point(from, intervals_.end(), [&](const Interval& i) {
    return i.first <= std::uint64_t{last} + 1;
  });
  if (from == to) {
    intervals_.insert(from, {first, last});
    return;
  }
  from->first = std::min(from->first, first);
  from->last = std::max((to - 1)->last, last);
  intervals_.erase(from + 1, to);
}

void IntervalSet::erase(std::uint32_t first, std::uint32_t last) {
  const auto from = std::partition_point(intervals_.begin(), intervals_.end(),
                                         [&](const Interval& i) { return i.last < first; });
  const auto to = std::partition_point(from, intervals_.end(),
                                       [&](const Interval& i) { return i.first <= last; });
  if (from == to) return;

  const bool keep_head = from->first < first;
  const bool keep_tail = (to - 1)->last > last;
  const Interval head{from->first, first - 1};
  const Interval tail{last + 1, (to - 1)->last};
  if (keep_head && keep_tail && to - from == 1) {
    *from = head;
    intervals_.insert(to, tail);
    return;
  }
  auto hole = from;
  if (keep_head) *hole++ = head;
  auto hole_end = to;
  if (keep_tail) *--hole_end = tail;
  intervals_.erase(hole, hole_end);
}

bool IntervalSet::contains(std::uint32_t value) const {
  const auto at = std::partition_point(intervals_.begin(), intervals_.end(),
                                       [&](const Interval& i) { return i.last < value; });
  return at != intervals_.end() && at->first <= value;
}

std::uint64_t IntervalSet::count() const {
  std::uint64_t total = 0;
  for (const Interval& i : intervals_) total += std::uint64_t{i.last} - i.first + 1;
  return total;
}

Result<IntervalSet> parse_interval_set(std::string_view text, std::uint32_t max, std::size_t most) {
  return ListParser(text, max, most).parse();
}

std::string format_interval_set(const IntervalSet& set) {
  std::string out;
  const std::span<const Interval> all = set.intervals();
  const auto lone = [&](std::size_t i) { return i < all.size() && all[i].first == all[i].last; };
  const auto put = [&](std::uint32_t first, std::uint32_t last, std::uint32_t step) {
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (last == first) return;
    out += '-';
    out += std::to_string(last);
    if (step > 1) out += ':' + std::to_string(step);
  };

  for (std::size_t i = 0; i < all.size();) {
    // A run of single numbers with equal distances, from i up to but not including `end`.
    std::size_t end = i + 1;
    std::uint32_t step = 1;
    if (lone(i) && lone(i + 1)) {
      step = all[i + 1].first - all[i].first;
      while (lone(end) && all[end].first - all[end - 1].first == step) ++end;
    }
    if (end - i >= 3) {
      put(all[i].first, all[end - 1].first, step);
      i = end;
    } else {
      put(all[i].first, all[i].last, 1);
      ++i;
    }
  }
  return out;
}

}  // namespace ares
