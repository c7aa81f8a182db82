#include "base/boxed.h"

#include <gtest/gtest.h>

#include <string>

namespace ares {
namespace {

TEST(Boxed, CopiesAndComparesByValue) {
  Boxed<std::string> a;
  EXPECT_FALSE(a);
  EXPECT_EQ(a, Boxed<std::string>());
  a = std::string("x");
  Boxed<std::string> b = a;
  EXPECT_EQ(a, b);
  b->push_back('y');
  EXPECT_EQ(*a, "x");
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a == Boxed<std::string>());
  a = b;
  EXPECT_EQ(*a, "xy");
  a = *&a;
  EXPECT_EQ(*a, "xy");
  b.emplace();
  EXPECT_TRUE(b->empty());
  const Boxed<std::string> moved = std::move(a);
  EXPECT_EQ(*moved, "xy");
  b.reset();
  EXPECT_FALSE(b);
}

}  // namespace
}  // namespace ares
