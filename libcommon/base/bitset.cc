#include "base/bitset.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "base/interval_set.h"
#include "base/printable.h"

namespace ares {

Bitset::Bitset(std::size_t size, bool value)
    : size_(size), words_((size + 63) / 64, value ? ~std::uint64_t{0} : 0) {
  clear_tail();
}

void Bitset::resize(std::size_t size) {
  size_ = size;
  words_.resize((size + 63) / 64, 0);
  clear_tail();
}

void Bitset::clear_tail() {
  if (size_ % 64 != 0) words_.back() &= (std::uint64_t{1} << (size_ % 64)) - 1;
}

void Bitset::set_all() {
  std::fill(words_.begin(), words_.end(), ~std::uint64_t{0});
  clear_tail();
}

void Bitset::reset_all() {
  std::fill(words_.begin(), words_.end(), 0);
}

std::size_t Bitset::count() const {
  std::size_t total = 0;
  for (std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
  return total;
}

bool Bitset::any() const {
  return std::any_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word != 0; });
}

std::optional<std::size_t> Bitset::find(std::size_t from) const {
  if (from >= size_) return std::nullopt;
  std::size_t at = from / 64;
  std::uint64_t word = words_[at] & (~std::uint64_t{0} << (from % 64));
  while (word == 0) {
    if (++at == words_.size()) return std::nullopt;
    word = words_[at];
  }
  return at * 64 + static_cast<std::size_t>(std::countr_zero(word));
}

std::optional<Bitset> Bitset::first_n(std::size_t n) const {
  Bitset out(size_);
  for (std::size_t at = 0; at < words_.size() && n > 0; ++at) {
    std::uint64_t word = words_[at];
    const auto members = static_cast<std::size_t>(std::popcount(word));
    if (members <= n) {
      out.words_[at] = word;
      n -= members;
      continue;
    }
    for (; n > 0; --n) {
      out.words_[at] |= word & (~word + 1);  // the lowest set bit
      word &= word - 1;
    }
  }
  return n == 0 ? std::optional(std::move(out)) : std::nullopt;
}

Bitset& Bitset::operator|=(const Bitset& other) {
  assert(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

Bitset& Bitset::operator&=(const Bitset& other) {
  assert(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  return *this;
}

Bitset& Bitset::andnot(const Bitset& other) {
  assert(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  return *this;
}

bool Bitset::intersects(const Bitset& other) const {
  assert(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

bool Bitset::contains(const Bitset& other) const {
  assert(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((other.words_[i] & ~words_[i]) != 0) return false;
  }
  return true;
}

std::size_t Bitset::count_and(const Bitset& other) const {
  assert(size_ == other.size_);
  std::size_t total = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    total += static_cast<std::size_t>(std::popcount(words_[i] & other.words_[i]));
  }
  return total;
}

std::string format_bitset(const Bitset& set) {
  std::string out;
  for (std::optional<std::size_t> first = set.find(); first;) {
    std::size_t last = *first;
    while (last + 1 < set.size() && set.test(last + 1)) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(*first);
    if (last > *first) out += '-' + std::to_string(last);
    first = set.find(last + 1);
  }
  return out;
}

Result<Bitset> parse_bitset(std::string_view text, std::size_t size) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  Bitset out(size);
  if (text.empty()) return out;
  if (size == 0) {
    return fail(ErrorCode::invalid_argument,
                "list " + quote(text) + ": the set has room for nothing");
  }
  const std::size_t max =
      std::min<std::size_t>(size - 1, std::numeric_limits<std::uint32_t>::max() - 1);
  const Result<IntervalSet> numbers = parse_interval_set(text, static_cast<std::uint32_t>(max));
  if (!numbers) return fail(numbers.error());
  for (std::uint32_t i : *numbers) out.set(i);
  return out;
}

}  // namespace ares
