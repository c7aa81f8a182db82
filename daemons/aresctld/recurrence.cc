#include "aresctld/recurrence.h"

#include <ctime>
#include <utility>

namespace ares::aresctld {
namespace {

std::pair<int, int> time_of_day(Time at) {
  const std::time_t seconds = std::chrono::floor<Seconds>(at).time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds, &local);
  return {local.tm_hour, local.tm_min};
}

// So many days later at the same time of day; a time of day that is skipped then is taken as the C library does.
Time days_later(Time from, int days) {
  const auto whole = std::chrono::floor<Seconds>(from);
  const std::time_t seconds = whole.time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds, &local);
  local.tm_mday += days;
  local.tm_isdst = -1;
  return Time(Seconds(std::mktime(&local))) + (from - whole);
}

}  // namespace

std::optional<Window> next_by_the_clock(const Reservation& r, Time now) {
  const int step = r.recurrence == Recurrence::weekly ? 7 : 1;
  Window next{r.start, r.end};
  // Most of the way at once, so that the end of a long outage costs no more than that of a night.
  int days = 0;
  if (now > r.end) {
    const auto passed = std::chrono::floor<std::chrono::days>(now - r.end).count();
    days = static_cast<int>(passed) / step * step;
  }
  do {
    next = {days_later(r.start, days), days_later(r.end, days)};
    days += step;
  } while (next.end <= now);
  if (time_of_day(next.start) != time_of_day(r.start)) return std::nullopt;
  return next;
}

}  // namespace ares::aresctld
