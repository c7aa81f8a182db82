#include "auth/shared_key.h"

#include <gtest/gtest.h>

namespace ares::auth {
namespace {

const std::string kKey(kSharedKeyBytes, 'k');

TEST(SharedKey, ProofIsOfOneKeyAndOneStatement) {
  const std::string proof = prove(kKey, "statement");
  EXPECT_TRUE(verify(kKey, "statement", proof));
  EXPECT_FALSE(verify(kKey, "statement ", proof));
  EXPECT_FALSE(verify(std::string(kSharedKeyBytes, 'l'), "statement", proof));
  EXPECT_FALSE(verify(kKey, "statement", proof.substr(1)));
  EXPECT_FALSE(verify(kKey, "statement", {}));
}

TEST(SharedKey, ShortKeyIsNone) {
  EXPECT_FALSE(verify("", "statement", prove("", "statement")));
}

TEST(SharedKey, KeysOfOtherPurposesAreUnrelated) {
  EXPECT_NE(derive_key(kKey, "a"), derive_key(kKey, "b"));
  EXPECT_EQ(derive_key(kKey, "a"), derive_key(kKey, "a"));
  EXPECT_EQ(derive_key(kKey, "a").size(), kSharedKeyBytes);
}

TEST(SharedKey, HexadecimalTextIsReadAsItWasWritten) {
  const std::string bytes("\0\xff\x10z", 4);
  EXPECT_EQ(to_hex(bytes), "00ff107a");
  EXPECT_EQ(*from_hex(to_hex(bytes)), bytes);
  for (const char* wrong : {"0", "0g", "FF", " 0"}) EXPECT_FALSE(from_hex(wrong)) << wrong;
}

TEST(SharedKey, RandomBytesDiffer) {
  EXPECT_NE(random_bytes(16), random_bytes(16));
}

}  // namespace
}  // namespace ares::auth
