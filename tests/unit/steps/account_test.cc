#include "steps/account.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

TEST(StepCancelTest, RoundTrip) {
  const StepCancel cancel{7, 15, UserId(1000)};
  const auto back = decode_cancel(encode(cancel));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, cancel);
}

TEST(StepCancelTest, OtherTextIsRefused) {
  for (const char* text : {"", "step 1\n", "step 1\nsignal 65\nby 0\n", "step 1\nsignal -1\nby 0\n",
                           "step x\nsignal 9\nby 0\n"})
    EXPECT_FALSE(decode_cancel(text)) << text;
}

}  // namespace
}  // namespace ares::steps
