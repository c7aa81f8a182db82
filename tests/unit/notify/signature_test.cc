#include "notify/send/signature.h"

#include <gtest/gtest.h>

namespace ares::notify {
namespace {

TEST(Signature, IsThatOfRfc4231) {
  EXPECT_EQ(signature("Jefe", "what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace ares::notify
