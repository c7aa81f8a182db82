// Points in time as users write them for --begin, --deadline and --starttime: "now+1hour",
// "tomorrow", "16:30". Pure except for the process's time zone (TZ), in which dates and times of
// day are interpreted; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace ares {

// Meaning of a time of day without a date, or of a day without a year, that has already passed.
enum class TimeOfDay {
  upcoming,  // that time tomorrow, that day of the next year: for start times
  today,     // that time today, the last such day: for the start of a report
};

// Forms, in any case:
//   now, now+COUNT[UNIT], now-COUNT[UNIT]
//       UNIT is second(s), the default, minute(s), hour(s), day(s) or week(s), or s, min, h, d, w; at most 1000 years
//   +COUNTUNIT, -COUNTUNIT              the same, relative to now: -30d
//   today, tomorrow                     00:00 of that day
//   midnight, elevenses, noon, fika, teatime, HH:MM[:SS][am|pm]
//       `rule` decides what it means once it has passed today
//   YYYY-MM-DD[THH:MM[:SS]]             a space may replace the T; a trailing Z means UTC
//   MMDD[YY], MM.DD[.YY], M[M]/D[D][/YY], and behind them [-HH:MM[:SS]] or [THH:MM[:SS]]
//       in 20YY; without a year `rule` decides: upcoming: this year, or the next one once it has passed; today: this
//       year, or the last one if its month is still to come
//   DAY TIME, TIME DAY                  noon tomorrow, 01/31 4:30 pm: a day of the forms above and a time of day
// A day added to `now` is 24 hours. Local times that a clock change skips or repeats are resolved by
// the C library (mktime).
// invalid_argument for anything else, and for days and times that do not exist.
Result<Time> parse_timespec(std::string_view text, Time now, TimeOfDay rule = TimeOfDay::upcoming);

// "YYYY-MM-DDTHH:MM:SS" in the process's time zone, as in accounting and queue listings.
std::string format_local_time(Time at);

}  // namespace ares
