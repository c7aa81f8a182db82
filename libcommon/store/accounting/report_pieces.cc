#include "store/accounting/report_pieces.h"

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

// From the finest to the coarsest.
struct Unit {
  Sums sums;
  Time (*floor)(Time);
  Time (*next)(Time);  // of a beginning
};
constexpr Unit kUnits[] = {{Sums::hours, floor_hour, next_hour},
                           {Sums::days, floor_day, next_day},
                           {Sums::months, floor_month, next_month}};

// [start, end) of which `finer` sums can be had, with coarser ones in its middle.
void cut(Time start, Time end, Sums finer, const Unit* unit, std::vector<Piece>& out) {
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
  cut(from, to, unit->sums, unit + 1, out);
  if (to < end) out.push_back({finer, to, end});
}

}  // namespace

std::vector<Piece> pieces_of(Time start, Time end, std::optional<Time> summed_up_to) {
  std::vector<Piece> pieces;
  if (start >= end) return pieces;
  const Time known = std::clamp(summed_up_to ? floor_hour(*summed_up_to) : start, start, end);
  cut(start, known, Sums::records, std::begin(kUnits), pieces);
  // What follows is records, as the end of what was cut may be.
  if (known < end) {
    if (!pieces.empty() && pieces.back().sums == Sums::records)
      pieces.back().to = end;
    else
      pieces.push_back({Sums::records, known, end});
  }
  return pieces;
}

}  // namespace ares::store
