// `key value` lines: the format of every record and of the supervisor's socket packets. It is
// readable and needs no library. Values; any thread.
#pragma once

#include <charconv>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/printable.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace ares::node {

class FieldWriter {
 public:
  // Newline, NUL and backslash are escaped, so that any value stays on its line.
  FieldWriter& put(std::string_view key, std::string_view value);
  FieldWriter& put(std::string_view key, const std::string& value) {
    return put(key, std::string_view(value));
  }
  FieldWriter& put(std::string_view key, const char* value) {
    return put(key, std::string_view(value));
  }
  template <std::integral T>
  FieldWriter& put(std::string_view key, T value) {
    return put(key, std::string_view(std::to_string(+value)));
  }
  template <class Tag, class Rep>
  FieldWriter& put(std::string_view key, Id<Tag, Rep> id) {
    return put(key, id.value());
  }
  FieldWriter& put(std::string_view key, Time time) {
    return put(key, time.time_since_epoch().count());
  }
  FieldWriter& put(std::string_view key, Bytes bytes) { return put(key, bytes.value()); }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Ignores unknown keys (a newer program wrote them) but is strict about values. The first error is
// kept in status(); getters then return zero values, so that a decoder needs only one check at its
// end.
class FieldReader {
 public:
  FieldReader(std::string_view what, std::string_view text);

  bool has(std::string_view key) const { return fields_.contains(key); }
  std::string text(std::string_view key);  // must be there
  std::string text_or_empty(std::string_view key) const;
  std::vector<std::string> all(std::string_view key) const;

  template <std::integral T>
  T number(std::string_view key) {
    auto it = fields_.find(key);
    if (it == fields_.end()) return wrong(key, "is missing"), T{};
    return parse<T>(key, it->second.front());
  }
  template <std::integral T>
  T number_or(std::string_view key, T otherwise) {
    return has(key) ? number<T>(key) : otherwise;
  }
  template <std::integral T>
  std::optional<T> optional_number(std::string_view key) {
    return has(key) ? std::optional<T>(number<T>(key)) : std::nullopt;
  }
  template <class IdType>
  IdType id(std::string_view key) {
    return IdType(number<typename IdType::rep>(key));
  }
  template <std::integral T>
  std::vector<T> numbers(std::string_view key) {
    std::vector<T> result;
    for (const std::string& value : all(key)) result.push_back(parse<T>(key, value));
    return result;
  }
  Time time(std::string_view key) { return Time(Duration(number<std::int64_t>(key))); }
  bool flag(std::string_view key) { return number_or<int>(key, 0) != 0; }

  Status status() const { return status_; }
  void wrong(std::string_view key, std::string_view why);

 private:
  template <std::integral T>
  T parse(std::string_view key, const std::string& value) {
    T result{};
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size())
      return wrong(key, "is not a number in range: " + quote(value)), T{};
    return result;
  }

  std::string what_;
  std::map<std::string, std::vector<std::string>, std::less<>> fields_;
  Status status_;
};

}  // namespace ares::node
