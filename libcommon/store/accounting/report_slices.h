// Which sums a report reads: a time cut into whole months, days and hours that are summed up, and what is left for the raw records.
// Pure; any thread.
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"

namespace ares::store {

enum class RollupLevel { records, hours, days, months };

// [from, to), of UTC; never empty.
struct TimeSlice {
  RollupLevel level = RollupLevel::records;
  Time from{}, to{};
  friend bool operator==(const TimeSlice&, const TimeSlice&) = default;
};

// Pieces of [start, end), ascending, without gaps. All before `summed_up_to` is summed up by hour, and by day and month as far as these
// are over by then; none = nothing is. Nothing for an empty time.
std::vector<TimeSlice> slices_of(Time start, Time end, std::optional<Time> summed_up_to);

}  // namespace ares::store
