#include "exec/kubernetes/api/rfc3339.h"

#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

TEST(Rfc3339, TimesAreRead) {
  const Time expected{std::chrono::seconds(1767323045)};  // date -u -d 2026-01-02T03:04:05Z +%s
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05Z"), expected);
  EXPECT_EQ(parse_rfc3339("2026-01-02T04:34:05+01:30"), expected);
  EXPECT_EQ(parse_rfc3339("2026-01-01T22:04:05-05:00"), expected);
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05.25Z"), expected + std::chrono::milliseconds(250));
  EXPECT_EQ(parse_rfc3339("2026-01-02t03:04:05.123456789z"), expected + Duration(123456));
}

TEST(Rfc3339, OtherTextsAreRefused) {
  for (const char* text :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-02T24:00:00Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05Zx", "26-01-02T03:04:05Z", "2026-01-02T03:04:05+1:00"})
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
}

TEST(Rfc3339, MicroTimeHasSixDigitsAndIsReadAsTheSame) {
  const Time at{Duration(1767323045'000042)};
  EXPECT_EQ(format_micro_time(at), "2026-01-02T03:04:05.000042Z");
  EXPECT_EQ(parse_rfc3339(format_micro_time(at)), at);
}

}  // namespace
}  // namespace ares::kubernetes
