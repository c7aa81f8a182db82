// Parameters of SQL statements in PostgreSQL's binary format: numbers, times, texts, bytes, and arrays
// of these. No quoting is needed. Used by store/ only; plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace ares::store {

// Text that PostgreSQL accepts in a UTF-8 database: NUL and malformed sequences become U+FFFD;
// text longer than `limit` bytes is cut at a character boundary.
std::string clean_text(std::string_view text, std::size_t limit = 64 * 1024);

// One column of many rows, sent as an array.
class ArrayParam {
 public:
  // Type of the elements; the SQL casts its parameter to the same type, as in `$1::bigint[]`.
  enum class Element : std::uint32_t { bigint = 20, text = 25, bytea = 17, timestamptz = 1184 };

  explicit ArrayParam(Element element);

  void add(std::int64_t value);
  void add(std::uint64_t value) { add(static_cast<std::int64_t>(value)); }
  void add(std::uint32_t value) { add(static_cast<std::int64_t>(value)); }
  void add(std::int32_t value) { add(static_cast<std::int64_t>(value)); }
  void add(Time value);
  void add(std::string_view value);  // cleaned if the elements are texts
  void add_null();
  template <class T>
  void add(const std::optional<T>& value) {
    if (value)
      add(*value);
    else
      add_null();
  }

  std::size_t size() const { return count_; }
  std::string take();  // the array; add nothing afterwards

 private:
  void raw(std::string_view value);

  Element element_;
  std::uint32_t count_ = 0;
  bool nulls_ = false;
  std::string bytes_;
};

// The parameters of one statement, in order.
class PgParams {
 public:
  PgParams& bigint(std::int64_t value);
  PgParams& bigint(std::uint64_t value) { return bigint(static_cast<std::int64_t>(value)); }
  PgParams& timestamp(Time value);
  PgParams& text(std::string_view value);
  PgParams& bytes(std::string value);
  PgParams& array(ArrayParam&& value) { return bytes(value.take()); }

  const std::vector<std::string>& values() const { return values_; }

 private:
  std::vector<std::string> values_;
};

// Decode a binary result column.
std::int64_t read_bigint(std::string_view bytes);  // 2, 4 or 8 bytes
Time read_timestamp(std::string_view bytes);

}  // namespace ares::store
