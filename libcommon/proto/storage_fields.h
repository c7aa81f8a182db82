// Building blocks of storage conversions: times, identifiers, lists,
// enumerations. Included by the storage_convert*.cc files only. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"

namespace ares::proto {

// Collects the errors of a decoder; only the first is kept. Decoders continue with a
// harmless value, so that each remains a plain list of fields.
class DecodeErrors {
 public:
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }
  void add(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }

  // Enumerations are stored as numbers; new values are only appended.
  template <class Enum>
  Enum check(std::uint32_t value, Enum last, const char* what) {
    if (value <= static_cast<std::uint32_t>(last)) return static_cast<Enum>(value);
    add(std::string(what) + " " + std::to_string(value) + " is not known to this release");
    return Enum{};
  }

 private:
  std::string text_;
};

template <class Enum>
std::uint32_t number(Enum value) {
  return static_cast<std::uint32_t>(value);
}

inline std::int64_t micros(Time time) {
  return time.time_since_epoch().count();
}
inline Time to_time(std::int64_t micros) {
  return Time{Duration{micros}};
}

template <std::size_t N>
std::string to_bytes(const std::array<std::uint8_t, N>& digest) {
  return std::string(digest.begin(), digest.end());
}

template <std::size_t N>
std::array<std::uint8_t, N> to_digest(const std::string& bytes, const char* what,
                                      DecodeErrors& errors) {
  std::array<std::uint8_t, N> digest{};
  if (bytes.size() != N) {
    errors.add(std::string(what) + " has " + std::to_string(bytes.size()) + " bytes instead of " +
               std::to_string(N));
    return digest;
  }
  std::transform(bytes.begin(), bytes.end(), digest.begin(),
                 [](char c) { return static_cast<std::uint8_t>(c); });
  return digest;
}

// Plain repeated fields: strings and numbers.
template <class From, class To>
void put_list(const From& from, To* to) {
  to->Reserve(static_cast<int>(from.size()));
  for (const auto& value : from) *to->Add() = value;
}
template <class T, class From>
std::vector<T> get_list(const From& from) {
  return std::vector<T>(from.begin(), from.end());
}

// Repeated identifiers.
template <class From, class To>
void put_ids(const From& from, To* to) {
  for (const auto& id : from) to->Add(id.value());
}
template <class IdType, class From>
std::vector<IdType> get_ids(const From& from) {
  std::vector<IdType> ids;
  ids.reserve(static_cast<std::size_t>(from.size()));
  for (const auto value : from) ids.emplace_back(static_cast<typename IdType::rep>(value));
  return ids;
}

}  // namespace ares::proto
