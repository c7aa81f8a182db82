// Points in time as users write them for --begin, --deadline and --starttime: "now+1hour",
// "tomorrow", "16:30". Pure but for the process's time zone (TZ), in which dates and times of day
// are meant; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ares {

// What a time of day without a date means once it has passed today.
enum class TimeOfDay {
  upcoming,  // the same time tomorrow: when to begin
  today,     // that time today: since when to report
};

// Forms, in any case:
//   now, now+COUNT[UNIT], now-COUNT[UNIT]
//       UNIT is second(s), the default, minute(s), hour(s), day(s) or week(s), or s, min, h, d, w; at most 1000 years
//   +COUNTUNIT, -COUNTUNIT              the same from now: -30d
//   today, tomorrow                     00:00 of that day
//   midnight, elevenses, noon, fika, teatime, HH:MM[:SS][am|pm]
//       what that means once it has passed today is for `rule` to say
//   YYYY-MM-DD[THH:MM[:SS]]             a space may stand for the T; a trailing Z means UTC
//   MM/DD[/YY][-HH:MM[:SS]]             this year, or 20YY
// A day after `now` is 24 hours. A local time that a clock change skips or repeats is taken as the
// C library does.
// invalid_argument for anything else, and for days and times that do not exist.
Result<Time> parse_timespec(std::string_view text, Time now, TimeOfDay rule = TimeOfDay::upcoming);

// "YYYY-MM-DDTHH:MM:SS" in the process's time zone, as accounting and queue listings print it.
std::string format_local_time(Time at);

}  // namespace ares
