#include "exec/kubernetes/api/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ares::kubernetes {
namespace {

TEST(KubernetesJson, ValuesAreFoundBelowKeys) {
  const auto read =
      parse_object(R"({"a":{"b":"text","n":7,"big":18446744073709551615},"l":[1]})", "it");
  ASSERT_TRUE(read);
  EXPECT_EQ(text_at(*read, {"a", "b"}), "text");
  EXPECT_EQ(text_at(*read, {"a", "n"}), "");
  EXPECT_EQ(text_at(*read, {"a", "b", "c"}), "");
  EXPECT_EQ(number_at(*read, {"a", "n"}), 7);
  EXPECT_EQ(number_at(*read, {"a", "big"}), std::nullopt);
  EXPECT_EQ(find(*read, {"l", "0"}), nullptr);
  EXPECT_EQ(find(*read, {}), &*read);
}

TEST(KubernetesJson, OtherTextsAreErrors) {
  for (const char* text :
       {"", "[1]", "7", "{", "{\"a\":}", "{\"a\":\"\xff\"}", "{\"a\":1e999}", "{} {}"}) {
    const auto read = parse_object(text, "the answer");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, testing::StartsWith("the answer is not "));
  }
}

}  // namespace
}  // namespace ares::kubernetes
