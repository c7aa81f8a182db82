#include "exec/kubernetes/api/rfc3339.h"

#include <cstdint>
#include <cstdio>

namespace ares::kubernetes {
namespace {

// The number of exactly `digits` digits at the beginning, which it takes away.
std::optional<int> take_number(std::string_view& rest, std::size_t digits) {
  if (rest.size() < digits) return std::nullopt;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (rest[i] < '0' || rest[i] > '9') return std::nullopt;
    number = number * 10 + (rest[i] - '0');
  }
  rest.remove_prefix(digits);
  return number;
}

bool take(std::string_view& rest, std::string_view any_of) {
  if (rest.empty() || any_of.find(rest[0]) == std::string_view::npos) return false;
  rest.remove_prefix(1);
  return true;
}

// "08:30" after a sign.
std::optional<std::chrono::minutes> take_offset(std::string_view& rest) {
  if (take(rest, "Zz")) return std::chrono::minutes(0);
  const int sign = !rest.empty() && rest[0] == '-' ? -1 : 1;
  if (!take(rest, "+-")) return std::nullopt;
  const auto hours = take_number(rest, 2);
  if (!hours || !take(rest, ":")) return std::nullopt;
  const auto minutes = take_number(rest, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * std::chrono::minutes(*hours * 60 + *minutes);
}

std::optional<Duration> take_fraction(std::string_view& rest) {
  if (!take(rest, ".")) return Duration{};
  std::int64_t micros = 0;
  int digits = 0;
  for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1))
    if (digits++ < 6) micros = micros * 10 + (rest[0] - '0');
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) micros *= 10;
  return Duration(micros);
}

}  // namespace

std::optional<Time> parse_rfc3339(std::string_view text) {
  std::string_view rest = text;
  const auto year = take_number(rest, 4);
  if (!year || !take(rest, "-")) return std::nullopt;
  const auto month = take_number(rest, 2);
  if (!month || !take(rest, "-")) return std::nullopt;
  const auto day = take_number(rest, 2);
  if (!day || !take(rest, "Tt ")) return std::nullopt;
  const auto hour = take_number(rest, 2);
  if (!hour || !take(rest, ":")) return std::nullopt;
  const auto minute = take_number(rest, 2);
  if (!minute || !take(rest, ":")) return std::nullopt;
  const auto second = take_number(rest, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto fraction = take_fraction(rest);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(rest);
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!offset || !rest.empty() || !date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second) + *fraction - *offset;
}

std::string format_micro_time(Time at) {
  const auto days = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss<Duration> clock(at - days);
  char text[64];
  std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

}  // namespace ares::kubernetes
