// Durations in the formats that users of batch systems write and read: "30", "1:30:00", "2-12",
// "UNLIMITED". Pure functions; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares {

// nullopt is "no limit".
using TimeLimit = std::optional<std::chrono::seconds>;

// Forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
// days-hours:minutes:seconds. A part may exceed its usual range ("90:00" is an hour and a half).
// "UNLIMITED", "INFINITE", "-1" (any case) and every form of zero mean no limit.
// invalid_argument for anything else and for more than 2^31 minutes.
Result<TimeLimit> parse_time_limit(std::string_view text);

// "[D-]HH:MM:SS". A negative length has a leading '-'.
std::string format_duration(std::chrono::seconds length);

// For the narrow column of the queue listing: "M:SS", "H:MM:SS", "D-HH:MM:SS".
std::string format_duration_short(std::chrono::seconds length);

// CPU time: "MM:SS.mmm" below an hour, so that short jobs do not all show 0, else format_duration.
std::string format_cpu_time(std::chrono::microseconds length);

// format_duration, or "UNLIMITED"; parse_time_limit returns the same limit unless it is shorter
// than a second.
std::string format_time_limit(TimeLimit limit);

}  // namespace ares
