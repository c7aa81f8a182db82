#include "base/duration.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/printable.h"

namespace ares {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kMaxSeconds = (std::int64_t{1} << 31) * kMinute;

// Units of the colon-separated parts, by whether days were given and by the number of parts.
struct Form {
  bool days;
  std::size_t parts;
  std::array<std::int64_t, 3> unit;
};
constexpr std::array<Form, 6> kForms = {{
    {false, 1, {kMinute}},
    {false, 2, {kMinute, 1}},
    {false, 3, {kHour, kMinute, 1}},
    {true, 1, {kHour}},
    {true, 2, {kHour, kMinute}},
    {true, 3, {kHour, kMinute, 1}},
}};

constexpr std::array<std::string_view, 3> kUnlimited = {"unlimited", "infinite", "-1"};

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c =
        text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

tl::unexpected<Error> bad_limit(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, "time limit " + quote(text) + ": " + std::string(why));
}

// Digits only, at most ten, so that later products cannot overflow.
std::optional<std::int64_t> parse_part(std::string_view part) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc{} || rest != part.data() + part.size() || part[0] == '-' ||
      part.size() > 10) {
    return std::nullopt;
  }
  return value;
}

struct Parts {
  bool negative;
  std::int64_t days, hours, minutes, seconds;
};

Parts split(seconds length) {
  const std::int64_t total = length.count() < 0 ? -length.count() : length.count();
  return {length.count() < 0, total / kDay, total % kDay / kHour, total % kHour / kMinute,
          total % kMinute};
}

template <class... Args>
std::string print(const char* format, Args... args) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, args...);
  return buffer.data();
}

}  // namespace

Result<TimeLimit> parse_time_limit(std::string_view text) {
  for (std::string_view word : kUnlimited) {
    if (equal_ignoring_case(text, word)) return TimeLimit{};
  }

  constexpr std::string_view kExpected =
      "expected minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]] or "
      "UNLIMITED";
  std::string_view rest = text;
  std::int64_t total = 0;
  const std::size_t dash = rest.find('-');
  if (dash != std::string_view::npos) {
    const std::optional<std::int64_t> days = parse_part(rest.substr(0, dash));
    if (!days) return bad_limit(text, kExpected);
    total = *days * kDay;
    rest.remove_prefix(dash + 1);
  }

  std::vector<std::int64_t> parts;
  for (;;) {
    const std::size_t colon = rest.find(':');
    const std::optional<std::int64_t> part = parse_part(rest.substr(0, colon));
    if (!part) return bad_limit(text, kExpected);
    parts.push_back(*part);
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }

  for (const Form& form : kForms) {
    if (form.days != (dash != std::string_view::npos) || form.parts != parts.size()) continue;
    for (std::size_t i = 0; i < parts.size(); ++i) total += parts[i] * form.unit[i];
    if (total > kMaxSeconds) return bad_limit(text, "too long; for no limit write UNLIMITED");
    return total == 0 ? TimeLimit{} : TimeLimit{seconds(total)};
  }
  return bad_limit(text, kExpected);
}

std::string format_duration(seconds length) {
  const Parts p = split(length);
  const char* sign = p.negative ? "-" : "";
  if (p.days > 0)
    return print("%s%jd-%02jd:%02jd:%02jd", sign, p.days, p.hours, p.minutes, p.seconds);
  return print("%s%02jd:%02jd:%02jd", sign, p.hours, p.minutes, p.seconds);
}

std::string format_duration_short(seconds length) {
  const Parts p = split(length);
  const char* sign = p.negative ? "-" : "";
  if (p.days > 0)
    return print("%s%jd-%02jd:%02jd:%02jd", sign, p.days, p.hours, p.minutes, p.seconds);
  if (p.hours > 0) return print("%s%jd:%02jd:%02jd", sign, p.hours, p.minutes, p.seconds);
  return print("%s%jd:%02jd", sign, p.minutes, p.seconds);
}

std::string format_cpu_time(std::chrono::microseconds length) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(length);
  if (seconds >= std::chrono::hours(1)) return format_duration(seconds);
  const std::int64_t ms = length.count() / 1000;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%02jd:%02jd.%03jd", static_cast<intmax_t>(ms / 60'000),
                static_cast<intmax_t>(ms / 1000 % 60), static_cast<intmax_t>(ms % 1000));
  return buffer;
}

std::string format_time_limit(TimeLimit limit) {
  return limit ? format_duration(*limit) : "UNLIMITED";
}

}  // namespace ares
