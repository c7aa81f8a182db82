#include "base/variable_name.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(VariableName, IsOneOfAShell) {
  for (const char* good : {"A", "_", "a_1", "PATH"}) EXPECT_TRUE(is_variable_name(good)) << good;
  for (const char* bad : {"", "1A", "A=1", "A-B", "\xc3\xa9", "A B"})
    EXPECT_FALSE(is_variable_name(bad)) << bad;
}

}  // namespace
}  // namespace ares
