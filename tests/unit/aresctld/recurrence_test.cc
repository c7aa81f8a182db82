#include "aresctld/engine/recurrence.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace ares::aresctld {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// The rule of Central Europe, so that no time zone database is needed: summer time began on
// 2026-03-29 at 01:00 UTC and ends on 2026-10-25 at 01:00 UTC.
class Recurring : public testing::Test {
 protected:
  Recurring() {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~Recurring() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  static Reservation from(Time start, Duration lasts, Recurrence recurrence) {
    Reservation r;
    r.start = start;
    r.end = start + lasts;
    r.recurrence = recurrence;
    return r;
  }
};

constexpr Time kBefore{std::chrono::sys_days{std::chrono::March / 28 / 2026} + hours(8)};  // 09:00

TEST_F(Recurring, KeepsTheTimeOfDayAcrossClockChanges) {
  const Reservation daily = from(kBefore, hours(2), Recurrence::daily);
  const Window next = *next_occurrence(daily, daily.end);
  EXPECT_EQ(next.start, kBefore + hours(23)) << "09:00 of summer time";
  EXPECT_EQ(next.end, kBefore + hours(25));
  const Reservation weekly = from(kBefore, hours(2), Recurrence::weekly);
  EXPECT_EQ(next_occurrence(weekly, weekly.end)->start, kBefore + hours(7 * 24 - 1));
}

TEST_F(Recurring, ReservationOverTheStartOfSummerTimeIsAnHourShorter) {
  const Time evening = kBefore + hours(14 - 24);  // 23:00 of the day before, until 06:00
  const Reservation nightly = from(evening, hours(7), Recurrence::daily);
  const Window next = *next_occurrence(nightly, nightly.end);
  EXPECT_EQ(next.start, evening + hours(24));
  EXPECT_EQ(next.end - next.start, hours(6));
}

TEST_F(Recurring, SkippedTimeOfDayMovesItOnlyOnce) {
  const Time early = kBefore - hours(6) - minutes(30);  // 02:30, which does not exist on the 29th
  const Reservation daily = from(early, hours(1), Recurrence::daily);
  EXPECT_EQ(next_occurrence(daily, daily.end), std::nullopt);
  EXPECT_EQ(next_occurrence(daily, early + hours(26))->start, early + hours(47)) << "02:30 again";
}

TEST_F(Recurring, MissedOccurrencesAreSkipped) {
  const Reservation daily = from(kBefore, hours(2), Recurrence::daily);
  const Window now = *next_occurrence(daily, kBefore + hours(24 * 100) + minutes(10));
  EXPECT_EQ(now.start, kBefore + hours(24 * 100 - 1)) << "the one that is on";
  const Reservation weekly = from(kBefore, hours(2), Recurrence::weekly);
  EXPECT_EQ(next_occurrence(weekly, kBefore + hours(24 * 15))->start, kBefore + hours(24 * 21 - 1));
}

TEST_F(Recurring, UsagePeriodsBeginAtLocalMidnight) {
  const auto began = [](UsageReset period, Time now) { return *period_start(period, now); };
  const Time midnight = kBefore - hours(9);  // Saturday, March 28
  EXPECT_EQ(period_start(UsageReset::never, kBefore), std::nullopt);
  EXPECT_EQ(began(UsageReset::daily, kBefore), midnight);
  EXPECT_EQ(began(UsageReset::daily, midnight), midnight);
  EXPECT_EQ(began(UsageReset::daily, midnight - Duration{1}), midnight - hours(24));
  EXPECT_EQ(began(UsageReset::weekly, kBefore), midnight - hours(5 * 24)) << "Monday";
  EXPECT_EQ(began(UsageReset::monthly, kBefore), midnight - hours(27 * 24));
  EXPECT_EQ(began(UsageReset::quarterly, kBefore), midnight - hours(86 * 24)) << "January 1";
  EXPECT_EQ(began(UsageReset::yearly, kBefore), midnight - hours(86 * 24));
  // The clocks change on the 29th: that day begins 24 hours after the 28th, and the 30th only 23 hours later.
  EXPECT_EQ(began(UsageReset::daily, kBefore + hours(48)), midnight + hours(47));
  EXPECT_EQ(began(UsageReset::monthly, kBefore + hours(24 * 10)), midnight + hours(4 * 24 - 1));
  EXPECT_EQ(began(UsageReset::quarterly, kBefore + hours(24 * 10)), midnight + hours(4 * 24 - 1));
}

}  // namespace
}  // namespace ares::aresctld
