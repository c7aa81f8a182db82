#include "aresctld/engine/recurrence.h"

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

// The same local time a number of days later. mktime() resolves times that daylight saving skips.
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

std::optional<Window> next_occurrence(const Reservation& r, Time now) {
  const int step = r.recurrence == Recurrence::weekly ? 7 : 1;
  Window next{r.start, r.end};
  // Skip most of the time at once, so that the cost does not depend on the length of an outage.
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

std::optional<Time> period_start(UsageReset period, Time now) {
  if (period == UsageReset::never) return std::nullopt;
  const std::time_t seconds = std::chrono::floor<Seconds>(now).time_since_epoch().count();
  std::tm local{};
  localtime_r(&seconds, &local);
  local.tm_hour = local.tm_min = local.tm_sec = 0;
  local.tm_isdst = -1;
  switch (period) {
    case UsageReset::never:
    case UsageReset::daily: break;
    case UsageReset::weekly: local.tm_mday -= (local.tm_wday + 6) % 7; break;  // to Monday
    case UsageReset::monthly: local.tm_mday = 1; break;
    case UsageReset::quarterly:
      local.tm_mon -= local.tm_mon % 3;
      local.tm_mday = 1;
      break;
    case UsageReset::yearly:
      local.tm_mon = 0;
      local.tm_mday = 1;
      break;
  }
  return Time(Seconds(std::mktime(&local)));
}

}  // namespace ares::aresctld
