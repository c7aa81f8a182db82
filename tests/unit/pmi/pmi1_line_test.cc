#include "pmi/pmi1_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;

TEST(Pmi1Line, FieldsAreSeparatedByBlanksButAValueMayContainThem) {
  const auto line = Pmi1Line::read("cmd=put  kvsname=s key=k value=a b=c ");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->kind(), "cmd");
  EXPECT_EQ(line->command(), "put");
  EXPECT_EQ(line->field("kvsname"), "s");
  EXPECT_EQ(line->field("key"), "k");
  EXPECT_EQ(line->field("value"), "a b=c ");
  EXPECT_EQ(line->field("other"), "");
}

TEST(Pmi1Line, MalformedLinesAreRefused) {
  for (const char* text : {"", "  ", "put", "=put", "cmd=put key", "cmd=put\tkey=a", "cmd=\x7f"})
    EXPECT_FALSE(Pmi1Line::read(text)) << text;
  std::string many;
  for (int i = 0; i < 20; ++i) many += "a=b ";
  EXPECT_THAT(Pmi1Line::read(many).error().message, HasSubstr("more than 16 fields"));
}

TEST(Pmi1Line, KeysAndValuesAreBounded) {
  EXPECT_TRUE(is_key("P0-businesscard"));
  EXPECT_TRUE(is_key(std::string(kMostKey, 'k')));
  for (const std::string& key :
       {std::string(), std::string("a b"), std::string("a=b"), std::string("a\n"),
        std::string("\xc3\xa4"), std::string(kMostKey + 1, 'k')})
    EXPECT_FALSE(is_key(key)) << key;
  EXPECT_TRUE(is_value(""));
  EXPECT_TRUE(is_value(std::string(kMostValue, 'v')));
  EXPECT_FALSE(is_value(std::string(kMostValue + 1, 'v')));
  EXPECT_FALSE(is_value("a\nb"));
}

}  // namespace
}  // namespace ares::pmi
