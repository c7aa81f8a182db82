#include "exec/kubernetes/api/rate_limit.h"

#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimit, AllowsABurstAndThenTheRate) {
  BootTime now{seconds(100)};
  RateLimit limit({.per_second = 10, .burst = 3}, now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take(now));
  EXPECT_FALSE(limit.take(now));
  int taken = 0;
  for (int i = 0; i < 1000; ++i)
    if (limit.take(now += milliseconds(10))) ++taken;
  EXPECT_NEAR(taken, 100, 1);
}

TEST(RateLimit, NextIsWhenATokenIsThere) {
  const BootTime now{seconds(100)};
  RateLimit limit({.per_second = 2, .burst = 1}, now);
  EXPECT_EQ(limit.next(now), now);
  EXPECT_TRUE(limit.take(now));
  const BootTime next = limit.next(now);
  EXPECT_NEAR(static_cast<double>((next - now).count()), 500'000, 10);
  EXPECT_FALSE(limit.take(next - milliseconds(1)));
  EXPECT_TRUE(limit.take(next));
}

TEST(RateLimit, UrgentRequestsDelayTheOthers) {
  const BootTime now{seconds(100)};
  RateLimit limit({.per_second = 1, .burst = 1}, now);
  EXPECT_TRUE(limit.take(now));
  limit.take_anyway(now);
  EXPECT_FALSE(limit.take(now + milliseconds(1500)));
  EXPECT_TRUE(limit.take(now + milliseconds(2500)));
}

}  // namespace
}  // namespace ares::kubernetes
