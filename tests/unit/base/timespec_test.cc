#include "base/timespec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace ares {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using testing::HasSubstr;

Time utc(int year, unsigned month, unsigned day, int hour = 0, int minute = 0, int second = 0) {
  return Time(sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day))) +
         std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

// Every test sets its time zone by an explicit rule, so that no time zone database is
// needed.
class Timespec : public testing::Test {
 protected:
  void SetUp() override { zone("UTC0"); }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
  static void zone(const char* tz) {
    setenv("TZ", tz, 1);
    tzset();
  }

  Time at(std::string_view text, TimeOfDay rule = TimeOfDay::upcoming) const {
    const Result<Time> time = parse_timespec(text, now_, rule);
    EXPECT_TRUE(time) << time.error().message;
    return time.value_or(Time{});
  }

  Time now_ = utc(2030, 5, 15, 14, 30, 10) + 250ms;  // a Wednesday
};

TEST_F(Timespec, RelativeToNow) {
  EXPECT_EQ(at("now"), now_);
  EXPECT_EQ(at("NOW"), now_);
  EXPECT_EQ(at("now+1hour"), now_ + 1h);
  EXPECT_EQ(at("now+30minutes"), now_ + 30min);
  EXPECT_EQ(at("now+90"), now_ + 90s);
  EXPECT_EQ(at("now+1second"), now_ + 1s);
  EXPECT_EQ(at("now-1day"), now_ - 24h);
  EXPECT_EQ(at("now + 2 weeks"), now_ + 14 * 24h);
  EXPECT_EQ(at("-30d"), now_ - 30 * 24h);
  EXPECT_EQ(at("+90min"), now_ + 90min);
  EXPECT_EQ(at("-2hours"), now_ - 2h);
  EXPECT_EQ(at("now+1w"), now_ + 7 * 24h);
  EXPECT_EQ(at("now+5000weeks"), now_ + 5000 * 7 * 24h);
}

TEST_F(Timespec, WordsForDays) {
  EXPECT_EQ(at("today"), utc(2030, 5, 15));
  EXPECT_EQ(at("tomorrow"), utc(2030, 5, 16));
  now_ = utc(2031, 12, 31, 23, 59, 59);
  EXPECT_EQ(at("tomorrow"), utc(2032, 1, 1));
}

TEST_F(Timespec, PastTimeOfDayIsTomorrow) {
  EXPECT_EQ(at("16:00"), utc(2030, 5, 15, 16));
  EXPECT_EQ(at("teatime"), utc(2030, 5, 15, 16));
  EXPECT_EQ(at("fika"), utc(2030, 5, 15, 15));
  EXPECT_EQ(at("noon"), utc(2030, 5, 16, 12));
  EXPECT_EQ(at("elevenses"), utc(2030, 5, 16, 11));
  EXPECT_EQ(at("midnight"), utc(2030, 5, 16));
  EXPECT_EQ(at("8:05"), utc(2030, 5, 16, 8, 5));
  EXPECT_EQ(at("14:30:11"), utc(2030, 5, 15, 14, 30, 11));
  EXPECT_EQ(at("14:30:10"), utc(2030, 5, 16, 14, 30, 10));
}

TEST_F(Timespec, TimeOfDayInReportsIsToday) {
  EXPECT_EQ(at("noon", TimeOfDay::today), utc(2030, 5, 15, 12));
  EXPECT_EQ(at("midnight", TimeOfDay::today), utc(2030, 5, 15));
  EXPECT_EQ(at("16:00", TimeOfDay::today), utc(2030, 5, 15, 16));
}

TEST_F(Timespec, TwelveHourClock) {
  EXPECT_EQ(at("12:00am", TimeOfDay::today), utc(2030, 5, 15));
  EXPECT_EQ(at("12:00PM", TimeOfDay::today), utc(2030, 5, 15, 12));
  EXPECT_EQ(at("4:30pm", TimeOfDay::today), utc(2030, 5, 15, 16, 30));
}

TEST_F(Timespec, Dates) {
  EXPECT_EQ(at("2030-06-01"), utc(2030, 6, 1));
  EXPECT_EQ(at("2020-02-29T08:30"), utc(2020, 2, 29, 8, 30));
  EXPECT_EQ(at("2030-06-01T08:30:15"), utc(2030, 6, 1, 8, 30, 15));
  EXPECT_EQ(at("2030-06-01 08:30:15"), utc(2030, 6, 1, 8, 30, 15));
  EXPECT_EQ(at("6/1"), utc(2030, 6, 1));
  EXPECT_EQ(at("06/01/31"), utc(2031, 6, 1));
  EXPECT_EQ(at("06/01/31-08:30"), utc(2031, 6, 1, 8, 30));
}

TEST_F(Timespec, WhatUsersOfAtWrite) {
  EXPECT_EQ(at("4:30 pm"), utc(2030, 5, 15, 16, 30));
  EXPECT_EQ(at("4:30 PM"), utc(2030, 5, 15, 16, 30));
  EXPECT_EQ(at("noon tomorrow"), utc(2030, 5, 16, 12));
  EXPECT_EQ(at("tomorrow  noon"), utc(2030, 5, 16, 12));
  EXPECT_EQ(at("4:30 pm tomorrow"), utc(2030, 5, 16, 16, 30));
  EXPECT_EQ(at("tomorrow 4:30 pm"), utc(2030, 5, 16, 16, 30));
  EXPECT_EQ(at("noon today"), utc(2030, 5, 15, 12)) << "it has passed, but that day is meant";
  EXPECT_EQ(at("010230"), utc(2030, 1, 2));
  EXPECT_EQ(at("16:30 060131"), utc(2031, 6, 1, 16, 30));
  EXPECT_EQ(at("06/01 teatime"), utc(2030, 6, 1, 16));
  EXPECT_EQ(at("06/01/31 8:30"), utc(2031, 6, 1, 8, 30));
  EXPECT_EQ(at("noon 2030-06-01"), utc(2030, 6, 1, 12));
  EXPECT_EQ(at("2030-06-01 8:30 am"), utc(2030, 6, 1, 8, 30));
  for (const char* wrong : {"noon noon", "tomorrow today", "131530", "01023", "4:30 pm am",
                            "13:30 pm", "noon tomorrow noon", "noon 2030-06-01T08:00",
                            "noon 06/01-08:00", "pm", "4 pm", "noon now", "10230 noon"})
    EXPECT_FALSE(parse_timespec(wrong, now_)) << wrong;
}

TEST_F(Timespec, DatesOfSlurm) {
  EXPECT_EQ(at("0601"), utc(2030, 6, 1));
  EXPECT_EQ(at("060131"), utc(2031, 6, 1));
  EXPECT_EQ(at("06.01"), utc(2030, 6, 1));
  EXPECT_EQ(at("06.01.31"), utc(2031, 6, 1));
  EXPECT_EQ(at("0601-08:30"), utc(2030, 6, 1, 8, 30));
  EXPECT_EQ(at("0601T08:30:15"), utc(2030, 6, 1, 8, 30, 15));
  EXPECT_EQ(at("060131-08:30"), utc(2031, 6, 1, 8, 30));
  EXPECT_EQ(at("06.01-8:30pm"), utc(2030, 6, 1, 20, 30));
  EXPECT_EQ(at("06.01.31T08:30"), utc(2031, 6, 1, 8, 30));
  EXPECT_EQ(at("06/01T08:30"), utc(2030, 6, 1, 8, 30));
  EXPECT_EQ(at("06/01/31-08:30:15"), utc(2031, 6, 1, 8, 30, 15));
  EXPECT_EQ(at("noon 0601"), utc(2030, 6, 1, 12));
  EXPECT_EQ(at("06.01 noon"), utc(2030, 6, 1, 12));
}

TEST_F(Timespec, DayWithoutYearIsTheNextOneForStarts) {
  EXPECT_EQ(at("0515-14:31"), utc(2030, 5, 15, 14, 31));
  EXPECT_EQ(at("0515-14:30"), utc(2031, 5, 15, 14, 30)) << "it has passed";
  EXPECT_EQ(at("5/14"), utc(2031, 5, 14));
  EXPECT_EQ(at("05.14"), utc(2031, 5, 14));
  EXPECT_EQ(at("5/14 16:00"), utc(2031, 5, 14, 16));
  EXPECT_EQ(at("5/14/30"), utc(2030, 5, 14)) << "it has a year";
}

TEST_F(Timespec, DayWithoutYearIsTheLastOneForReports) {
  EXPECT_EQ(at("0514", TimeOfDay::today), utc(2030, 5, 14));
  EXPECT_EQ(at("0516", TimeOfDay::today), utc(2030, 5, 16)) << "of this month";
  EXPECT_EQ(at("12/01", TimeOfDay::today), utc(2029, 12, 1));
  EXPECT_EQ(at("12.01-08:00", TimeOfDay::today), utc(2029, 12, 1, 8));
}

TEST_F(Timespec, WrongDatesSayHowTheyWereRead) {
  const auto refusal = [this](std::string_view text) {
    const auto time = parse_timespec(text, now_);
    EXPECT_FALSE(time) << text;
    return time ? std::string() : time.error().message;
  };
  EXPECT_THAT(refusal("1631"), HasSubstr("read as MMDD, and there is no month 16"));
  EXPECT_THAT(refusal("31.12"), HasSubstr("read as MM.DD, and there is no month 31"));
  EXPECT_THAT(refusal("31/12/30"), HasSubstr("read as MM/DD, and there is no month 31"));
  EXPECT_THAT(refusal("043130"), HasSubstr("read as MMDDYY, and that month has no day 31"));
  EXPECT_THAT(refusal("0431-12:00"), HasSubstr("read as MMDD, and that month has no day 31"));
  EXPECT_THAT(refusal("20300131"), HasSubstr("written YYYY-MM-DD"));
  EXPECT_EQ(refusal("2030-13-01").find("read as"), std::string::npos);
  for (const char* wrong : {"1.5", "6.1", "06.1", "06.01/31", "06/01.31", "06.01.2031", "0601-",
                            "0601T", "0601-8", "06013", "0601 0602", "0229", "0601-08:30 noon"})
    refusal(wrong);
}

TEST_F(Timespec, TimesAreInTheLocalZone) {
  zone("EST5EDT,M3.2.0,M11.1.0");  // in May four hours behind UTC: 10:30 local time
  EXPECT_EQ(at("noon"), utc(2030, 5, 15, 16));
  EXPECT_EQ(at("tomorrow"), utc(2030, 5, 16, 4));
  EXPECT_EQ(at("2030-01-15T12:00"), utc(2030, 1, 15, 17));
  EXPECT_EQ(at("2030-07-15T12:00"), utc(2030, 7, 15, 16));
  EXPECT_EQ(at("2030-07-15T12:00Z"), utc(2030, 7, 15, 12));
  now_ = utc(2030, 3, 10, 3);  // the evening before summer time begins
  EXPECT_EQ(at("midnight"), utc(2030, 3, 10, 5));
  EXPECT_EQ(at("8:00"), utc(2030, 3, 10, 12));
  now_ = utc(2030, 3, 10, 6);  // 01:00 of that day, which has 23 hours
  EXPECT_EQ(at("tomorrow"), utc(2030, 3, 11, 4));
}

TEST_F(Timespec, ZoneEastOfUtc) {
  zone("IST-5:30");
  EXPECT_EQ(at("today"), utc(2030, 5, 14, 18, 30));
  EXPECT_EQ(at("2030-05-16T00:00"), utc(2030, 5, 15, 18, 30));
}

TEST_F(Timespec, InvalidTimesAreRefused) {
  for (const char* text : {"",
                           "soon",
                           "now+",
                           "now1",
                           "-30",
                           "-d",
                           "+1x",
                           "-1ds",
                           "now+1fortnight",
                           "now+-1",
                           "now+1hours!",
                           "now+1hour 2",
                           "now+999999999weeks",
                           "now-999999999weeks",
                           "25:00",
                           "24:00",
                           "12:60",
                           "12:00:60",
                           "13:00pm",
                           "0:00am",
                           "1:5",
                           "noonish",
                           "2030-13-01",
                           "2030-02-30",
                           "2030-00-01",
                           "2030-1-1",
                           "2030-01-01T",
                           "2030-01-01T1",
                           "2030-01-01x",
                           "1969-12-31",
                           "2/30",
                           "13/1",
                           "1/1/2030",
                           "1/1-",
                           "tomorrow 8",
                           "99999999999"}) {
    const Result<Time> time = parse_timespec(text, now_);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(time.error().message, HasSubstr("\"" + std::string(text) + "\""));
  }
}

TEST_F(Timespec, RefusalsAdviseTimesThatTheOptionTakes) {
  const std::string begin = parse_timespec("soon", now_).error().message;
  EXPECT_EQ(begin.find("-30d"), std::string::npos) << "a job cannot begin in the past";
  EXPECT_NE(begin.find("noon tomorrow"), std::string::npos);
  const std::string report = parse_timespec("soon", now_, TimeOfDay::today).error().message;
  EXPECT_NE(report.find("-30d"), std::string::npos);
}

TEST_F(Timespec, FormatIsLocalAndParsesBack) {
  zone("EST5EDT,M3.2.0,M11.1.0");
  EXPECT_EQ(format_local_time(now_), "2030-05-15T10:30:10");
  EXPECT_EQ(at(format_local_time(now_)), utc(2030, 5, 15, 14, 30, 10));
}

}  // namespace
}  // namespace ares
