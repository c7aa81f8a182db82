#include "base/timespec.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include "base/printable.h"

namespace ares {
namespace {

using std::chrono::seconds;

constexpr std::array<std::pair<std::string_view, std::int64_t>, 10> kUnits = {{
    {"second", 1},
    {"minute", 60},
    {"hour", 3600},
    {"day", 86400},
    {"week", 7 * 86400},
    {"s", 1},
    {"min", 60},
    {"h", 3600},
    {"d", 86400},
    {"w", 7 * 86400},
}};

// Larger than any useful offset, and far below the range of microseconds in 64 bits.
constexpr seconds kMaxOffset = std::chrono::years(1000);

struct Clock {
  int hour = 0, minute = 0, second = 0;
};

constexpr std::array<std::pair<std::string_view, Clock>, 5> kNamedTimes = {{
    {"midnight", {0}},
    {"noon", {12}},
    {"elevenses", {11}},
    {"fika", {15}},
    {"teatime", {16}},
}};

// Consumes matching text from the front; a function that does not match consumes
// nothing.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // How many digits come next.
  std::size_t count_digits() const {
    const std::size_t end = rest_.find_first_not_of("0123456789");
    return end == std::string_view::npos ? rest_.size() : end;
  }

  // Consumes at least `min` digits, and at most `max`.
  std::optional<int> take_number(std::size_t min, std::size_t max) {
    std::size_t digits = 0;
    while (digits < rest_.size() && digits < max && rest_[digits] >= '0' && rest_[digits] <= '9')
      ++digits;
    if (digits < min) return std::nullopt;
    int value = 0;
    std::from_chars(rest_.data(), rest_.data() + digits, value);
    rest_.remove_prefix(digits);
    return value;
  }

 private:
  std::string_view rest_;
};

// HH:MM[:SS][am|pm]
std::optional<Clock> take_clock(Cursor& cursor) {
  Clock clock;
  const auto hour = cursor.take_number(1, 2);
  if (!hour || !cursor.take(":")) return std::nullopt;
  const auto minute = cursor.take_number(2, 2);
  if (!minute) return std::nullopt;
  clock = {*hour, *minute, 0};
  if (cursor.take(":")) {
    const auto second = cursor.take_number(2, 2);
    if (!second) return std::nullopt;
    clock.second = *second;
  }
  const bool am = cursor.take("am");
  const bool pm = !am && cursor.take("pm");
  if (am || pm) {
    if (clock.hour < 1 || clock.hour > 12) return std::nullopt;
    clock.hour = clock.hour % 12 + (pm ? 12 : 0);
  }
  if (clock.hour > 23 || clock.minute > 59 || clock.second > 59) return std::nullopt;
  return clock;
}

std::tm to_local(Time at) {
  const std::time_t seconds_since_epoch =
      std::chrono::floor<seconds>(at).time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds_since_epoch, &local);
  return local;
}

Time from_seconds(std::time_t value) {
  return Time(seconds(value));
}

// `days` after the date of `day`, at `clock`. If a clock change skips that hour, mktime may shift
// the hour but not the date.
Time local_time(std::tm day, int days, Clock clock) {
  day.tm_mday += days;
  day.tm_hour = clock.hour;
  day.tm_min = clock.minute;
  day.tm_sec = clock.second;
  day.tm_isdst = -1;
  return from_seconds(std::mktime(&day));
}

std::optional<Time> date_time(int year, int month, int day, Clock clock, bool utc) {
  const auto date = std::chrono::year(year) / month / day;
  if (year < 1970 || !date.ok()) return std::nullopt;
  if (utc) {
    return Time(std::chrono::sys_days(date)) + std::chrono::hours(clock.hour) +
           std::chrono::minutes(clock.minute) + seconds(clock.second);
  }
  std::tm local{};
  local.tm_year = year - 1900;
  local.tm_mon = month - 1;
  local.tm_mday = day;
  return local_time(local, 0, clock);
}

// YYYY-MM-DD[THH:MM[:SS]][Z]
std::optional<Time> parse_iso(Cursor cursor) {
  const auto year = cursor.take_number(4, 4);
  if (!year || !cursor.take("-")) return std::nullopt;
  const auto month = cursor.take_number(2, 2);
  if (!month || !cursor.take("-")) return std::nullopt;
  const auto day = cursor.take_number(2, 2);
  if (!day) return std::nullopt;
  Clock clock;
  if (cursor.take("t") || cursor.take(" ")) {
    const auto taken = take_clock(cursor);
    if (!taken) return std::nullopt;
    clock = *taken;
  }
  const bool utc = cursor.take("z");
  if (!cursor.done()) return std::nullopt;
  return date_time(*year, *month, *day, clock, utc);
}

// A day as Slurm writes it.
struct MonthDay {
  int month = 0, day = 0;
  std::optional<int> year;  // none: that of `now`, or the next or last one
};

// MMDD[YY], MM.DD[.YY], M[M]/D[D][/YY]
std::optional<MonthDay> take_month_day(Cursor& cursor) {
  MonthDay found;
  const std::size_t digits = cursor.count_digits();
  const bool joined = digits == 4 || digits == 6;
  const auto month = cursor.take_number(joined ? 2 : 1, 2);
  const std::string_view mark = joined ? "" : cursor.take("/") ? "/" : ".";
  // One digit before or behind a point would be a fraction.
  const std::size_t least = mark == "/" ? 1 : 2;
  if (!month || digits < least || (mark == "." && !cursor.take(mark))) return std::nullopt;
  const auto day = cursor.take_number(least, 2);
  if (!day) return std::nullopt;
  found.month = *month;
  found.day = *day;
  if (joined ? digits == 6 : cursor.take(mark)) {
    const auto two_digits = cursor.take_number(2, 2);
    if (!two_digits) return std::nullopt;
    found.year = 2000 + *two_digits;
  }
  return found;
}

// Without a year it is the next such time, or for reports one of this year, or of the last one if its month is still to
// come.
std::optional<Time> date_time(const MonthDay& date, Clock clock, Time now, TimeOfDay rule) {
  const std::tm today = to_local(now);
  const int this_year = today.tm_year + 1900;
  if (date.year) return date_time(*date.year, date.month, date.day, clock, false);
  if (rule == TimeOfDay::today)
    return date_time(this_year - (date.month > today.tm_mon + 1 ? 1 : 0), date.month, date.day,
                     clock, false);
  const auto at = date_time(this_year, date.month, date.day, clock, false);
  return at && *at < now ? date_time(this_year + 1, date.month, date.day, clock, false) : at;
}

// A day of these forms, with [-HH:MM[:SS]] or [THH:MM[:SS]].
std::optional<Time> parse_month_day(Cursor cursor, Time now, TimeOfDay rule) {
  const auto date = take_month_day(cursor);
  if (!date) return std::nullopt;
  Clock clock;
  if (cursor.take("-") || cursor.take("t")) {
    const auto taken = take_clock(cursor);
    if (!taken) return std::nullopt;
    clock = *taken;
  }
  return cursor.done() ? date_time(*date, clock, now, rule) : std::nullopt;
}

// The part after "now": "", "+1hour", "- 30 minutes". Spaces may surround sign and count.
std::optional<Time> parse_offset(Cursor cursor, Time now) {
  const auto skip_spaces = [&cursor] {
    while (cursor.take(" ")) {
    }
  };
  if (cursor.done()) return now;
  skip_spaces();
  const bool minus = cursor.take("-");
  if (!minus && !cursor.take("+")) return std::nullopt;
  skip_spaces();
  const auto count = cursor.take_number(1, 9);
  if (!count) return std::nullopt;
  skip_spaces();
  std::int64_t unit = 1;
  for (const auto& [name, length] : kUnits) {
    if (!cursor.take(name)) continue;
    if (name.size() >= 3) cursor.take("s");
    unit = length;
    break;
  }
  if (!cursor.done()) return std::nullopt;
  const seconds offset(*count * unit);
  if (offset > kMaxOffset) return std::nullopt;
  return minus ? now - offset : now + offset;
}

std::optional<Clock> parse_time_of_day(Cursor cursor) {
  for (const auto& [name, clock] : kNamedTimes) {
    if (cursor.take(name)) return cursor.done() ? std::optional(clock) : std::nullopt;
  }
  const auto clock = take_clock(cursor);
  return cursor.done() ? clock : std::nullopt;
}

// The given day at `clock`: today, tomorrow, YYYY-MM-DD, or one of MonthDay.
std::optional<Time> on_day(std::string_view day, Clock clock, Time now, TimeOfDay rule) {
  if (day == "today") return local_time(to_local(now), 0, clock);
  if (day == "tomorrow") return local_time(to_local(now), 1, clock);
  Cursor cursor(day);
  if (const auto date = take_month_day(cursor); date && cursor.done())
    return date_time(*date, clock, now, rule);
  const auto midnight = parse_iso(Cursor(day));
  // Only a day: one with a time of its own has more than its date.
  if (!midnight || day.find_first_of("t:z") != std::string_view::npos) return std::nullopt;
  return local_time(to_local(*midnight), 0, clock);
}

// "noon tomorrow", "tomorrow 16:30", "01/31 4:30pm", "013130": a day, a time of day before or behind
// it, or none.
std::optional<Time> parse_day_and_time(std::string_view text, Time now, TimeOfDay rule) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return on_day(text, {}, now, rule);
  const std::string_view first = text.substr(0, blank), second = text.substr(blank + 1);
  if (const auto clock = parse_time_of_day(Cursor(first))) return on_day(second, *clock, now, rule);
  if (const auto clock = parse_time_of_day(Cursor(second))) return on_day(first, *clock, now, rule);
  return std::nullopt;
}

// Why a text that looks like a date is none; empty: it does not look like one.
std::string wrong_date(std::string_view lower) {
  Cursor cursor(lower);
  const std::size_t digits = cursor.count_digits();
  if (digits == 8 && digits == lower.size())
    return "a date with its whole year is written YYYY-MM-DD";
  const auto date = take_month_day(cursor);
  const bool iso = lower.find('-') != std::string_view::npos && lower.find(':') == lower.npos;
  if (!date || iso) return {};
  const bool slash = lower.find('/') != std::string_view::npos;
  const std::string form = digits == 4   ? "MMDD"
                           : digits == 6 ? "MMDDYY"
                           : slash       ? "MM/DD"
                                         : "MM.DD";
  const auto month = std::chrono::month(static_cast<unsigned>(date->month));
  const auto day = std::chrono::day(static_cast<unsigned>(date->day));
  if (!month.ok())
    return "it is read as " + form + ", and there is no month " + std::to_string(date->month);
  if (!(month / day).ok())
    return "it is read as " + form + ", and that month has no day " + std::to_string(date->day);
  return {};
}

// In lower case, with single blanks, and none before am and pm.
std::string normal_form(std::string_view text) {
  std::string normal;
  for (const char c : text) {
    if (c == ' ' && (normal.empty() || normal.back() == ' ')) continue;
    normal += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (normal.ends_with(' ')) normal.pop_back();
  for (const std::string_view half : {" am", " pm"}) {
    const std::size_t at = normal.find(half);
    const std::size_t end = at + half.size();
    const bool word = at != std::string::npos && (end == normal.size() || normal[end] == ' ');
    if (word && at > 0 && normal[at - 1] >= '0' && normal[at - 1] <= '9') normal.erase(at, 1);
  }
  return normal;
}

std::optional<Time> parse(std::string_view lower, Time now, TimeOfDay rule) {
  Cursor cursor(lower);
  if (cursor.take("now")) return parse_offset(cursor, now);
  // -30d needs its unit here: a number alone is not a time.
  const bool has_unit = !lower.empty() && lower.back() >= 'a' && lower.back() <= 'z';
  if (has_unit && (lower.front() == '-' || lower.front() == '+')) return parse_offset(cursor, now);
  if (const auto clock = parse_time_of_day(cursor)) {
    const Time today = local_time(to_local(now), 0, *clock);
    return rule == TimeOfDay::today || today >= now ? today : local_time(to_local(now), 1, *clock);
  }
  if (const auto at = parse_iso(cursor)) return at;
  if (const auto at = parse_month_day(cursor, now, rule)) return at;
  return parse_day_and_time(lower, now, rule);
}

}  // namespace

Result<Time> parse_timespec(std::string_view text, Time now, TimeOfDay rule) {
  const std::string normal = normal_form(text);
  if (const auto at = parse(normal, now, rule)) return *at;
  const bool may_be_past = rule == TimeOfDay::today;
  const std::string why = wrong_date(normal);
  return fail(ErrorCode::invalid_argument,
              "time " + quote(text) + ": no such time" + (why.empty() ? why : "; " + why) +
                  "; write it like " +
                  (may_be_past ? "now-1hour, -30d, today" : "now+1hour, noon tomorrow") +
                  ", 16:30 or 2030-01-31T16:30");
}

std::string format_local_time(Time at) {
  const std::tm local = to_local(at);
  std::array<char, 64> buffer{};
  std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%S", &local);
  return buffer.data();
}

}  // namespace ares
