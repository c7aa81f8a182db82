#include "base/slewed_clock.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

using namespace std::chrono_literals;

const Time kStart{Duration{1'800'000'000'000'000}};

TEST(SlewedClock, FollowsAWallClockThatDoesNotJump) {
  SlewedClock clock(kStart, 5s);
  EXPECT_EQ(clock.at(kStart + 60s, 65s), kStart + 60s);
  EXPECT_EQ(clock.ahead(), 0s);
}

TEST(SlewedClock, AJumpForwardMovesItByOnePercent) {
  SlewedClock clock(kStart, 0s);
  EXPECT_EQ(clock.at(kStart + 1h, 300s), kStart + 303s);
  EXPECT_EQ(clock.ahead(), 303s - 1h);
}

TEST(SlewedClock, AJumpBackSlowsItByOnePercent) {
  SlewedClock clock(kStart, 0s);
  Time last = kStart;
  for (Duration steady = 100ms; steady < 10s; steady += 100ms) {
    const Time now = clock.at(kStart - 1h, steady);
    EXPECT_EQ(now - last, 99ms);
    last = now;
  }
}

TEST(SlewedClock, ReachesAWallClockThatWasSet) {
  SlewedClock clock(kStart, 0s);
  Time now;
  for (Duration second = 1s; second <= 1100s; second += 1s)
    now = clock.at(kStart + 10s + second, second);
  EXPECT_EQ(now, kStart + 10s + 1100s);
}

TEST(SlewedClock, ASteadyClockThatGoesBackDoesNotTakeItBack) {
  SlewedClock clock(kStart, 10s);
  EXPECT_EQ(clock.at(kStart, 5s), kStart);
  EXPECT_EQ(clock.at(kStart + 1s, 11s), kStart + 1s);
}

}  // namespace
}  // namespace ares
