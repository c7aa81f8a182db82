#include "store/pg/pg_params.h"

#include <algorithm>
#include <utility>

namespace ares::store {
namespace {

// PostgreSQL counts microseconds from 2000-01-01; its last year is 294276.
constexpr std::int64_t kEpochShift = 946'684'800'000'000;
constexpr std::int64_t kLatest = 9'223'371'331'199'999'999;
constexpr std::int64_t kEarliest = -211'813'488'000'000'000;

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>((value >> shift) & 0xff));
}

std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  append_big_endian(out, value, bytes);
  return out;
}

std::uint64_t to_pg(Time time) {
  const std::int64_t micros = time.time_since_epoch().count();
  const std::int64_t shifted =
      micros < kEarliest + kEpochShift ? kEarliest : std::min(micros - kEpochShift, kLatest);
  return static_cast<std::uint64_t>(shifted);
}

// Length of the well-formed UTF-8 sequence at the start of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  struct Shape {
    unsigned char first, last, second_low, second_high;
    std::size_t length;
  };
  static constexpr Shape kShapes[] = {
      {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
      {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
      {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
  };
  for (const Shape& shape : kShapes) {
    if (lead < shape.first || lead > shape.last) continue;
    if (text.size() < shape.length || at(1) < shape.second_low || at(1) > shape.second_high)
      return 0;
    for (std::size_t i = 2; i < shape.length; ++i)
      if (at(i) < 0x80 || at(i) > 0xbf) return 0;
    return shape.length;
  }
  return 0;
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t limit) {
  static constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  out.reserve(std::min(text.size(), limit));
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view piece = length ? text.substr(0, length) : kReplacement;
    if (out.size() + piece.size() > limit) break;
    out += piece;
    text.remove_prefix(length ? length : 1);
  }
  return out;
}

ArrayParam::ArrayParam(Element element) : element_(element) {
  bytes_.resize(20);  // the header, written by take()
}

void ArrayParam::raw(std::string_view value) {
  append_big_endian(bytes_, value.size(), 4);
  bytes_ += value;
  ++count_;
}

void ArrayParam::add(std::int64_t value) {
  append_big_endian(bytes_, 8, 4);
  append_big_endian(bytes_, static_cast<std::uint64_t>(value), 8);
  ++count_;
}

void ArrayParam::add(Time value) {
  add(static_cast<std::int64_t>(to_pg(value)));
}

void ArrayParam::add(std::string_view value) {
  if (element_ == Element::text)
    raw(clean_text(value));
  else
    raw(value);
}

void ArrayParam::add_null() {
  append_big_endian(bytes_, 0xffff'ffff, 4);
  nulls_ = true;
  ++count_;
}

std::string ArrayParam::take() {
  std::string header;
  append_big_endian(header, 1, 4);  // dimensions
  append_big_endian(header, nulls_ ? 1 : 0, 4);
  append_big_endian(header, static_cast<std::uint32_t>(element_), 4);
  append_big_endian(header, count_, 4);
  append_big_endian(header, 1, 4);  // first index
  bytes_.replace(0, header.size(), header);
  return std::move(bytes_);
}

PgParams& PgParams::bigint(std::int64_t value) {
  values_.push_back(big_endian(static_cast<std::uint64_t>(value), 8));
  return *this;
}

PgParams& PgParams::timestamp(Time value) {
  values_.push_back(big_endian(to_pg(value), 8));
  return *this;
}

PgParams& PgParams::text(std::string_view value) {
  values_.push_back(clean_text(value));
  return *this;
}

PgParams& PgParams::bytes(std::string value) {
  values_.push_back(std::move(value));
  return *this;
}

std::int64_t read_bigint(std::string_view bytes) {
  std::uint64_t value = 0;
  if (!bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80)) value = ~std::uint64_t{0};
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}

Time read_timestamp(std::string_view bytes) {
  return Time{Duration{read_bigint(bytes) + kEpochShift}};
}

}  // namespace ares::store
