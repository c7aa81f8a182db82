#include "store/accounting/report_slices.h"

#include <algorithm>
#include <chrono>

namespace ares::store {
namespace {

Time floor_hour(Time at) {
  return std::chrono::floor<std::chrono::hours>(at);
}
Time floor_day(Time at) {
  return std::chrono::floor<std::chrono::days>(at);
}
Time floor_month(Time at) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
  return std::chrono::sys_days(day.year() / day.month() / 1);
}
Time next_hour(Time at) {
  return at + std::chrono::hours(1);
}
Time next_day(Time at) {
  return at + std::chrono::days(1);
}
Time next_month(Time at) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(at));
  return std::chrono::sys_days((day.year() / day.month() + std::chrono::months(1)) / 1);
}

// Ordered from the finest to the coarsest.
struct Unit {
  RollupLevel level;
  Time (*floor)(Time);
  Time (*next)(Time);  // of the start of a unit
};
constexpr Unit kUnits[] = {{RollupLevel::hours, floor_hour, next_hour},
                           {RollupLevel::days, floor_day, next_day},
                           {RollupLevel::months, floor_month, next_month}};

// Splits [start, end), which has sums of level `finer`, and uses coarser sums in the middle.
void cut(Time start, Time end, RollupLevel finer, const Unit* unit, std::vector<TimeSlice>& out) {
  if (start >= end) return;
  if (unit == std::end(kUnits)) {
    out.push_back({finer, start, end});
    return;
  }
  const Time below = unit->floor(start);
  const Time from = below == start ? start : unit->next(below);
  const Time to = unit->floor(end);
  if (from >= to) {
    out.push_back({finer, start, end});
    return;
  }
  if (start < from) out.push_back({finer, start, from});
  cut(from, to, unit->level, unit + 1, out);
  if (to < end) out.push_back({finer, to, end});
}

}  // namespace

std::vector<TimeSlice> slices_of(Time start, Time end, std::optional<Time> summed_up_to) {
  std::vector<TimeSlice> slices;
  if (start >= end) return slices;
  const Time known = std::clamp(summed_up_to ? floor_hour(*summed_up_to) : start, start, end);
  cut(start, known, RollupLevel::records, std::begin(kUnits), slices);
  // The rest is read from records; merge it with a preceding slice of records.
  if (known < end) {
    if (!slices.empty() && slices.back().level == RollupLevel::records)
      slices.back().to = end;
    else
      slices.push_back({RollupLevel::records, known, end});
  }
  return slices;
}

}  // namespace ares::store
