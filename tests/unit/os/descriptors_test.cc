#include "os/descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

namespace ares::os {
namespace {

// The limit is the whole process's: it is put back.
class DescriptorsTest : public ::testing::Test {
 protected:
  DescriptorsTest() { getrlimit(RLIMIT_NOFILE, &before); }
  ~DescriptorsTest() override { setrlimit(RLIMIT_NOFILE, &before); }
  rlimit before{};
};

TEST_F(DescriptorsTest, TheSoftLimitBecomesTheHardOne) {
  rlimit low = before;
  low.rlim_cur = 256;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto raised = raise_descriptor_limit();
  ASSERT_TRUE(raised) << raised.error().message;
  EXPECT_EQ(raised->before, 256u);
  EXPECT_EQ(raised->now, std::min<std::size_t>(before.rlim_max, 1 << 20));
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, raised->now);
}

TEST_F(DescriptorsTest, AHighLimitStays) {
  ASSERT_TRUE(raise_descriptor_limit());
  const auto again = raise_descriptor_limit();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->before, again->now);
}

}  // namespace
}  // namespace ares::os
