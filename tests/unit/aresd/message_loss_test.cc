// How many messages a simulated network loses.
#include "aresd/message_loss.h"

#include <gtest/gtest.h>

namespace ares::aresd {
namespace {

int lost_of(double rate, int messages) {
  MessageLoss loss(rate);
  int lost = 0;
  for (int i = 0; i < messages; ++i) lost += loss.drops_next();
  return lost;
}

TEST(Loss, FollowsTheConfiguredRate) {
  EXPECT_EQ(lost_of(0, 10'000), 0);
  EXPECT_EQ(lost_of(1, 10'000), 10'000);
  EXPECT_NEAR(lost_of(0.1, 100'000), 10'000, 500);
}

}  // namespace
}  // namespace ares::aresd
