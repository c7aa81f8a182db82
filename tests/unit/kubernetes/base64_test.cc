#include "exec/kubernetes/api/login/base64.h"

#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

TEST(Base64, VectorsOfRfc4648) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9v\nYmFy \t"), "foobar");
  EXPECT_EQ(decode_base64("/+8="), "\xff\xef");
}

TEST(Base64, OtherTextsAreRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zg==Zg==", "Zm9v=", "=", "Z-9_", "Zm9v!"})
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ares::kubernetes
