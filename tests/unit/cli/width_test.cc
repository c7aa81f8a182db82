#include "cli/output/width.h"

#include <gtest/gtest.h>

#include <string>

namespace ares::cli {
namespace {

TEST(Width, EastAsianLettersAndEmojiTakeTwoColumns) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("train"), 5u);
  EXPECT_EQ(display_width("grün"), 4u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("한글 ＡＢ"), 9u);
  EXPECT_EQ(display_width("🚀"), 2u);
  EXPECT_EQ(display_width("½→…"), 3u) << "ambiguous ones are narrow";
}

TEST(Width, CombiningMarksTakeNone) {
  EXPECT_EQ(display_width("u\u0308"), 1u);
  EXPECT_EQ(display_width("か\u3099"), 2u);
}

TEST(Width, BytesThatAreNotUtf8TakeOneEach) {
  EXPECT_EQ(display_width("\xff\xfe"), 2u);
  EXPECT_EQ(display_width("a\xe6\x97"), 3u) << "a letter that is cut";
}

TEST(Width, HeadNeverExceedsTheWidthAndKeepsLettersWhole) {
  EXPECT_EQ(head_of_width("日本語", 4), "日本");
  EXPECT_EQ(head_of_width("日本語", 5), "日本");
  EXPECT_EQ(head_of_width("日本語", 1), "");
  EXPECT_EQ(head_of_width("u\u0308x", 1), "u\u0308");
  EXPECT_EQ(head_of_width("abc", 9), "abc");
  const std::string mixed = "a日b本\u0301c\xff語";
  for (std::size_t width = 0; width < 12; ++width) {
    const auto head = head_of_width(mixed, width);
    EXPECT_LE(display_width(head), width);
    EXPECT_TRUE(mixed.starts_with(head));
  }
}

}  // namespace
}  // namespace ares::cli
