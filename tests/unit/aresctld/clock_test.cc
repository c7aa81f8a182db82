#include "aresctld/engine/clock.h"

#include <gtest/gtest.h>

namespace ares::aresctld {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock::time_point;

TEST(Clock, FollowsTheWallClock) {
  Clock clock;
  const Time wall = clock.now();
  const Steady steady = std::chrono::steady_clock::now() + 1s;
  const Time first = clock.at(wall + 1s, steady);
  EXPECT_EQ(clock.at(wall + 61s, steady + 60s) - first, 60s);
}

TEST(Clock, ForwardJumpIsLimitedToTheLeaseMargin) {
  Clock clock;
  const Time wall = clock.now();
  const Steady steady = std::chrono::steady_clock::now() + 1s;
  const Time first = clock.at(wall + 1s, steady);
  const Time later = clock.at(wall + 1h, steady + 300s);
  EXPECT_EQ(later - first, 303s);
}

TEST(Clock, NeverGoesBack) {
  Clock clock;
  const Time wall = clock.now();
  Steady steady = std::chrono::steady_clock::now() + 1s;
  Time last = clock.at(wall + 1s, steady);
  for (int i = 0; i < 100; ++i) {
    steady += 100ms;
    const Time now = clock.at(wall - 1h, steady);
    EXPECT_GE(now - last, 99ms);
    last = now;
  }
}

TEST(Clock, CatchesUpAfterAStepOfTheWallClock) {
  Clock clock;
  const Time wall = clock.now();
  const Steady steady = std::chrono::steady_clock::now();
  Time now;
  for (int second = 1; second <= 1100; ++second)
    now = clock.at(wall + 10s + second * 1s, steady + second * 1s);
  EXPECT_EQ(now, wall + 10s + 1100s);
}

}  // namespace
}  // namespace ares::aresctld
