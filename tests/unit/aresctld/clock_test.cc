#include "aresctld/engine/clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace ares::aresctld {
namespace {

using namespace std::chrono_literals;

const Time kWall{Duration{1'800'000'000'000'000}};
const Clock::Steady kSteady{1000s};

TEST(Clock, StartsAtTheWallClock) {
  Clock clock(kWall - 1h, {}, kWall, kSteady);
  EXPECT_EQ(clock.at(kWall + 1s, kSteady + 1s), kWall + 1s);
}

// A controller whose database was written under a clock that was ahead.
TEST(Clock, TimePassesFromTheRecordedTimeIfThatIsLater) {
  const Time recorded = kWall + std::chrono::days(3);
  Clock clock(recorded, {}, kWall, kSteady);
  const Time first = clock.at(kWall, kSteady);
  EXPECT_EQ(first, recorded);
  EXPECT_EQ(clock.at(kWall + 100s, kSteady + 100s), recorded + 99s);
  EXPECT_EQ(clock.ahead(), std::chrono::days(3) - 1s);
}

TEST(Clock, ADifferenceIsReportedAtOnceEachHourAndWhenItEnds) {
  std::vector<std::string> reports;
  Clock clock(
      kWall + 60s, [&](const std::string& text) { reports.push_back(text); }, kWall, kSteady);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_NE(reports[0].find("00:01:00 ahead of this machine's clock"), std::string::npos)
      << reports[0];
  EXPECT_NE(reports[0].find("in about 01:40:00"), std::string::npos) << reports[0];
  for (Duration passed = 1s; passed < 59min; passed += 1s)
    clock.at(kWall + passed, kSteady + passed);
  EXPECT_EQ(reports.size(), 1u);
  for (Duration passed = 59min; passed < 100min; passed += 1s)
    clock.at(kWall + passed, kSteady + passed);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_NE(reports[1].find("ahead"), std::string::npos);
  EXPECT_NE(reports[2].find("agrees"), std::string::npos);
}

TEST(Clock, AWallClockThatIsSetForwardIsReported) {
  std::vector<std::string> reports;
  Clock clock(
      Time::min(), [&](const std::string& text) { reports.push_back(text); }, kWall, kSteady);
  EXPECT_TRUE(reports.empty());
  clock.at(kWall + 1h, kSteady + 1s);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_NE(reports[0].find("00:59:58 behind this machine's clock"), std::string::npos)
      << reports[0];
}

}  // namespace
}  // namespace ares::aresctld
