#include "cli/values/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ares::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = JsonValue::Kind;

JsonObject parsed(const std::string& text) {
  auto object = parse_json_object(text);
  EXPECT_TRUE(object) << text << ": " << object.error().message;
  return object.value_or(JsonObject{});
}

TEST(JsonReader, ReadsValuesInOrder) {
  const JsonObject o = parsed(
      R"( {"script": "a b.sh", "ntasks":4, "mem" : "2G", "hold": true, "nice":false, "x":null,
          "args": ["one", 2, -3.5e+7], "none": []} )");
  ASSERT_EQ(o.size(), 8u);
  EXPECT_EQ(o[0].first, "script");
  EXPECT_EQ(o[0].second.text, "a b.sh");
  EXPECT_EQ(o[1].second.kind, Kind::number);
  EXPECT_EQ(o[1].second.text, "4");
  EXPECT_TRUE(o[3].second.boolean);
  EXPECT_EQ(o[4].second.kind, Kind::boolean);
  EXPECT_EQ(o[5].second.kind, Kind::null);
  EXPECT_THAT(o[6].second.items, ElementsAre("one", "2", "-3.5e+7"));
  EXPECT_EQ(o[7].second.kind, Kind::list);
  EXPECT_TRUE(parsed("{}").empty());
}

TEST(JsonReader, ReadsEscapes) {
  EXPECT_EQ(parsed(R"({"a": "\"\\\/\n\t\u00e4\u20ac\ud83d\ude00"})")[0].second.text,
            "\"\\/\n\tä€😀");
}

TEST(JsonReader, ErrorsNameTheColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column 1: expected an object"},
      {"[]", "column 1: expected an object"},
      {"{", "expected a text in double quotes"},
      {"{\"a\"}", "column 5: expected : behind \"a\""},
      {"{\"a\": }", "column 7: expected a text in double quotes, a number"},
      {"{\"a\": 1,}", "expected a text in double quotes"},
      {"{\"a\": 1 \"b\": 2}", "expected , or }"},
      {"{\"\xff\u202e\"}", "behind \"??\""},
      {"{\"a\": {}}", "expected a text in double quotes, a number"},
      {"{\"a\": [[]]}", "expected a text in double quotes, a number"},
      {"{\"a\": [true]}", "expected a text in double quotes, a number"},
      {"{\"a\": 1, \"a\": 2}", "\"a\" stands there twice"},
      {"{\"a\": \"b}", "not closed"},
      {"{\"a\": \"b\\\"}", "not closed"},
      {"{\"a\": \"\\x\"}", "\\ is followed by"},
      {"{\"a\": \"\\u00g0\"}", "four hexadecimal digits"},
      {"{\"a\": \"\\u00\"}", "four hexadecimal digits"},
      {"{\"a\": \"\\u0000\"}", "\\u0000"},
      {"{\"a\": \"\\ud83d\"}", "surrogate"},
      {"{\"a\": \"\\ude00\"}", "surrogate"},
      {"{\"a\": \"\n\"}", "control character"},
      {"{\"a\": 01x}", "expected , or }"},
      {"{\"a\": -}", "a number"},
      {"{} x", "nothing may follow"},
  };
  for (const auto& [text, why] : cases) {
    const auto object = parse_json_object(text);
    ASSERT_FALSE(object) << text;
    EXPECT_THAT(object.error().message, HasSubstr(why)) << text;
  }
}

TEST(JsonReader, RandomTextDoesNotCrash) {
  std::mt19937_64 random(3);
  const std::string letters = "{}[]\",:\\u0dn1-. tf";
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "{";
    for (std::uint64_t n = random() % 16; n > 0; --n) text += letters[random() % letters.size()];
    (void)parse_json_object(text);
  }
  EXPECT_FALSE(parse_json_object(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace ares::cli
