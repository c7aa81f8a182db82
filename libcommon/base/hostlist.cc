#include "base/hostlist.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/clip.h"
#include "base/printable.h"

namespace ares {
namespace {

// 18 digits always fit 64 bits.
constexpr std::size_t kMaxDigits = 18;
// As in DNS. Also limits the brackets of an item, and so the recursion of expand().
constexpr std::size_t kMaxName = 255;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '_';
}

std::uint64_t to_number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string padded(std::uint64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// The numbers first..last, padded with zeros to at least `width` digits.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 1;
};

// One item of a list alternates between text and brackets: a Part is a text and the bracket after
// it; the last Part has no bracket.
struct Part {
  std::string_view text;
  std::vector<Range> ranges;
};

class HostlistParser {
 public:
  HostlistParser(std::string_view text, std::size_t limit) : text_(text), limit_(limit) {}

  Result<std::vector<std::string>> parse() {
    if (text_.empty()) return std::move(names_);
    for (;;) {
      if (Status item = parse_item(); !item) return fail(item.error());
      if (at_ == text_.size()) return std::move(names_);
      ++at_;  // skip the comma
    }
  }

 private:
  Status parse_item() {
    std::vector<Part> parts;
    const std::size_t item_at = at_;
    std::uint64_t count = 1;
    std::size_t length = 0;  // of the longest name
    for (;;) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
      length += at_ - begin;
      if (length > kMaxName) return too_long(item_at);
      parts.push_back({text_.substr(begin, at_ - begin), {}});
      if (at_ == text_.size() || text_[at_] == ',') break;
      if (text_[at_] == ']') return bad("']' without '['");
      if (text_[at_] != '[') return bad("a host name cannot contain this character");
      const std::size_t bracket_at = at_++;
      std::uint64_t in_bracket = 0;
      std::size_t widest = 0;
      do {
        const Result<Range> range = parse_range(bracket_at);
        if (!range) return fail(range.error());
        parts.back().ranges.push_back(*range);
        in_bracket += range->last - range->first + 1;
        widest = std::max({widest, range->width, std::to_string(range->last).size()});
        if (in_bracket > limit_) return too_many(item_at);
      } while (text_[at_++] == ',');
      length += widest;
      count *= in_bracket;  // no overflow: both are below the limit, checked at each step
      if (count > limit_) return too_many(item_at);
    }
    if (at_ == item_at) return bad("expected a host name");
    if (count > limit_ - names_.size()) return too_many(item_at);
    expand(parts, 0, {});
    return {};
  }

  // Leaves at_ on the ',' or ']' after the range.
  Result<Range> parse_range(std::size_t bracket_at) {
    const Result<std::string_view> first = digits();
    if (!first) return fail(first.error());
    Range range{to_number(*first), to_number(*first), first->size()};
    if (at_ < text_.size() && text_[at_] == '-') {
      const std::size_t last_at = ++at_;
      const Result<std::string_view> last = digits();
      if (!last) return fail(last.error());
      range.last = to_number(*last);
      if (range.last < range.first) return bad("the range ends before it begins", last_at);
      if (last->front() == '0' && last->size() != first->size()) {
        return bad("both ends of a range with leading zeros need the same number of digits",
                   last_at);
      }
    }
    if (at_ == text_.size()) return bad("'[' is never closed", bracket_at);
    if (text_[at_] != ',' && text_[at_] != ']') return bad("expected a number, ',' or ']'");
    return range;
  }

  Result<std::string_view> digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == begin) return bad("expected a number");
    if (at_ - begin > kMaxDigits) return bad("number too long", begin);
    return text_.substr(begin, at_ - begin);
  }

  void expand(std::span<const Part> parts, std::size_t at, std::string prefix) {
    prefix += parts[at].text;
    if (at + 1 == parts.size()) {
      names_.push_back(std::move(prefix));
      return;
    }
    for (const Range& range : parts[at].ranges) {
      for (std::uint64_t value = range.first; value <= range.last; ++value) {
        expand(parts, at + 1, prefix + padded(value, range.width));
      }
    }
  }

  tl::unexpected<Error> bad(std::string_view why) const { return bad(why, at_); }

  tl::unexpected<Error> bad(std::string_view why, std::size_t at) const {
    return fail(ErrorCode::invalid_argument, "host list " + quote(clip(text_, 100)) + ", column " +
                                                 std::to_string(at + 1) + ": " + std::string(why));
  }

  tl::unexpected<Error> too_long(std::size_t at) const {
    return bad("a host name of more than " + std::to_string(kMaxName) + " characters", at);
  }

  tl::unexpected<Error> too_many(std::size_t at) const {
    return bad("more than " + std::to_string(limit_) + " hosts", at);
  }

  std::string_view text_;
  std::size_t limit_;
  std::size_t at_ = 0;
  std::vector<std::string> names_;
};

// A name split at its last number: "rack0_blade12.lan" is "rack0_blade", "12", ".lan". Without a
// number all of it is the prefix.
struct CutName {
  std::string_view prefix, digits, suffix;
};

CutName cut(std::string_view name) {
  const auto last_digit = std::find_if(name.rbegin(), name.rend(), is_digit).base();
  const auto end = static_cast<std::size_t>(last_digit - name.begin());
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == end || end - begin > kMaxDigits) return {name, {}, {}};
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

// Whether a range that ends with `a` can continue with `b` and still expand to the same digits.
bool follows(std::string_view a, std::string_view b) {
  if (to_number(b) != to_number(a) + 1) return false;
  return a.size() == b.size() || (a.front() != '0' && b.front() != '0');
}

// Contents of a bracket for numbers in the given order: "1-2,5".
std::string fold(std::span<const std::string_view> numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && follows(numbers[last], numbers[last + 1])) ++last;
    if (!out.empty()) out += ',';
    out += numbers[i];
    if (last > i) {
      out += '-';
      out += numbers[last];
    }
    i = last + 1;
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t limit) {
  return HostlistParser(text, limit).parse();
}

std::string compress_hostlist(std::span<const std::string> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const CutName first = cut(names[i]);
    std::vector<std::string_view> numbers = {first.digits};
    std::size_t next = i + 1;
    if (!first.digits.empty()) {
      for (; next < names.size(); ++next) {
        const CutName name = cut(names[next]);
        if (name.digits.empty() || name.prefix != first.prefix || name.suffix != first.suffix)
          break;
        numbers.push_back(name.digits);
      }
    }
    if (!out.empty()) out += ',';
    if (numbers.size() == 1) {
      out += names[i];
    } else {
      out.append(first.prefix).append("[").append(fold(numbers)).append("]").append(first.suffix);
    }
    i = next;
  }
  return out;
}

}  // namespace ares
