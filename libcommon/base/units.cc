#include "base/units.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>

#include "base/printable.h"

namespace ares {
namespace {

constexpr std::array<char, 6> kUnitLetters = {'B', 'K', 'M', 'G', 'T', 'P'};

constexpr std::int64_t unit_size(std::size_t power) {
  return std::int64_t{1} << (10 * power);
}

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// The power of 1024 for "", "K", "KB", "KiB", "B".
std::optional<std::size_t> unit_power(std::string_view unit, MemoryUnit default_unit) {
  if (unit.empty()) return static_cast<std::size_t>(default_unit);
  for (std::size_t power = 0; power < kUnitLetters.size(); ++power) {
    if (upper(unit[0]) != kUnitLetters[power]) continue;
    std::string_view rest = unit.substr(1);
    if (rest.empty()) return power;
    if (power == 0) return std::nullopt;
    if (rest.size() == 2 && upper(rest[0]) == 'I') rest.remove_prefix(1);
    if (rest.size() == 1 && upper(rest[0]) == 'B') return power;
    return std::nullopt;
  }
  return std::nullopt;
}

tl::unexpected<Error> bad_memory(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, "memory size " + quote(text) + ": " + std::string(why));
}

}  // namespace

Result<Bytes> parse_memory(std::string_view text, MemoryUnit default_unit) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range) return bad_memory(text, "too large");
  if (error != std::errc{})
    return bad_memory(text, "expected a whole number and a unit, as in 4G or 512M");
  if (number < 0) return bad_memory(text, "must not be negative");

  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (unit.starts_with('.'))
    return bad_memory(text, "fractions are not understood; use a smaller unit");
  const std::optional<std::size_t> power = unit_power(unit, default_unit);
  if (!power) return bad_memory(text, "unknown unit " + quote(unit) + "; use K, M, G, T or P");

  const std::int64_t size = unit_size(*power);
  if (number > std::numeric_limits<std::int64_t>::max() / size)
    return bad_memory(text, "too large");
  return Bytes(number * size);
}

std::string format_memory(Bytes amount) {
  if (amount.value() == 0) return "0";
  std::size_t power = 0;
  while (power + 1 < kUnitLetters.size() && amount.value() % unit_size(power + 1) == 0) ++power;
  return std::to_string(amount.value() / unit_size(power)) + kUnitLetters[power];
}

std::string format_memory_short(Bytes amount) {
  const double value = static_cast<double>(amount.value());
  const double magnitude = value < 0 ? -value : value;
  std::size_t power = 0;
  // An amount that would be rounded to 1024.00 of one unit is printed as 1.00 of the next.
  while (power + 1 < kUnitLetters.size() &&
         magnitude >= static_cast<double>(unit_size(power + 1)) * (1 - 0.005 / 1024)) {
    ++power;
  }
  if (amount.value() % unit_size(power) == 0) {
    if (amount.value() == 0) return "0";
    return std::to_string(amount.value() / unit_size(power)) + kUnitLetters[power];
  }
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f%c",
                value / static_cast<double>(unit_size(power)), kUnitLetters[power]);
  return buffer.data();
}

}  // namespace ares
