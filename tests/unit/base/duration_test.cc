#include "base/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST(ParseTimeLimit, AcceptsAllForms) {
  struct Case {
    const char* text;
    std::int64_t expected;
  };
  const Case cases[] = {
      {"30", 30 * 60},
      {"1:30", 90},
      {"90:00", 90 * 60},
      {"0:01", 1},
      {"1:30:00", 5400},
      {"01:02:03", 3723},
      {"100:00:00", 360000},
      {"2-12", 2 * 86400 + 12 * 3600},
      {"0-48", 48 * 3600},
      {"1-00", 86400},
      {"1-2:30", 86400 + 2 * 3600 + 30 * 60},
      {"7-01:02:03", 7 * 86400 + 3723},
      {"2147483648", (1ll << 31) * 60},
  };
  for (const Case& c : cases) {
    const Result<TimeLimit> limit = parse_time_limit(c.text);
    ASSERT_TRUE(limit) << limit.error().message;
    EXPECT_EQ(*limit, TimeLimit(seconds(c.expected))) << c.text;
  }
}

TEST(ParseTimeLimit, NoLimit) {
  for (const char* text :
       {"UNLIMITED", "unlimited", "Infinite", "INFINITE", "-1", "0", "0:00", "00:00:00", "0-0"}) {
    const Result<TimeLimit> limit = parse_time_limit(text);
    ASSERT_TRUE(limit) << limit.error().message;
    EXPECT_EQ(*limit, std::nullopt) << text;
  }
}

TEST(ParseTimeLimit, InvalidLimitsAreRefused) {
  for (const char* text : {"", "abc", "1h", "1:", ":1", "1::2", "1:2:3:4", "-", "1-", "-2", "1-2-3",
                           "1-2:3:4:5", " 5", "5 ", "1.5", "+5", "1:-2", "UNLIMITEDLY", "1-:2"}) {
    const Result<TimeLimit> limit = parse_time_limit(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_EQ(limit.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(limit.error().message,
                HasSubstr("\"" + std::string(text) + "\": expected minutes"));
  }
  for (const char* text :
       {"2147483649", "9999999999-9999999999:9999999999:9999999999", "1500000-0"}) {
    const Result<TimeLimit> limit = parse_time_limit(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_THAT(limit.error().message, HasSubstr("too long"));
  }
}

TEST(FormatDuration, HoursMinutesSeconds) {
  EXPECT_EQ(format_duration(seconds(0)), "00:00:00");
  EXPECT_EQ(format_duration(seconds(59)), "00:00:59");
  EXPECT_EQ(format_duration(seconds(3723)), "01:02:03");
  EXPECT_EQ(format_duration(seconds(86399)), "23:59:59");
  EXPECT_EQ(format_duration(seconds(86400)), "1-00:00:00");
  EXPECT_EQ(format_duration(seconds(123 * 86400 + 3723)), "123-01:02:03");
  EXPECT_EQ(format_duration(seconds(-61)), "-00:01:01");
}

TEST(FormatDurationShort, OmitsLeadingZeros) {
  EXPECT_EQ(format_duration_short(seconds(0)), "0:00");
  EXPECT_EQ(format_duration_short(seconds(5)), "0:05");
  EXPECT_EQ(format_duration_short(seconds(754)), "12:34");
  EXPECT_EQ(format_duration_short(seconds(3723)), "1:02:03");
  EXPECT_EQ(format_duration_short(seconds(86400 + 3723)), "1-01:02:03");
}

TEST(FormatTimeLimit, ParsesBack) {
  EXPECT_EQ(format_time_limit(std::nullopt), "UNLIMITED");
  for (std::int64_t n : {1ll, 59ll, 60ll, 3600ll, 86399ll, 86400ll, 1000000ll}) {
    EXPECT_EQ(parse_time_limit(format_time_limit(seconds(n))).value(), TimeLimit(seconds(n))) << n;
  }
  EXPECT_EQ(parse_time_limit(format_time_limit(std::nullopt)).value(), TimeLimit{});
}

}  // namespace
}  // namespace ares
