// Splits the period of a report into months, days and hours that have sums, and the rest.
// Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"

namespace ares::store {

enum class RollupLevel { records, hours, days, months };

// [from, to), UTC; never empty.
struct TimeSlice {
  RollupLevel level = RollupLevel::records;
  Time from{}, to{};
  friend bool operator==(const TimeSlice&, const TimeSlice&) = default;
};

// Adjacent slices of [start, end), ascending. Time before `summed_up_to` has hourly sums, and daily and monthly sums for the days and
// months that ended by then. Without it only records are used. Empty if start >= end.
std::vector<TimeSlice> slices_of(Time start, Time end, std::optional<Time> summed_up_to);

}  // namespace ares::store
