#include "base/printable.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(Printable, ControlsOfTerminalsAreReplaced) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a?[31mb");
  EXPECT_EQ(printable("a\x7f\tb\n"), "a??b?");
  EXPECT_EQ(printable("csi\u009b31m"), "csi?31m");
  EXPECT_EQ(printable("\u202Egpj.exe"), "?gpj.exe");
  EXPECT_EQ(printable("\u2066x\u2069\u200f\u061c\u2028"), "?x????");
}

TEST(Printable, OtherCharactersStay) {
  for (const char* text : {"", "plain", "größe", "日本語", "\u00a0\u200b", "👩‍💻"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(printable("a\xffz"), "a?z");
  EXPECT_EQ(printable("\xc3"), "?");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(printable("\xc0\xaf"), "??");       // overlong
}

TEST(Printable, LinesStayWhereATextHasSeveral) {
  EXPECT_EQ(printable("a\n\tb\rc\x1b", kLineControls), "a\n\tb?c?");
}

TEST(Printable, ControlsAreFound) {
  EXPECT_FALSE(has_control("größe \u00a0"));
  for (const char* text : {"a\n", "\u0085", "x\u202a", "\x7f"}) EXPECT_TRUE(has_control(text));
}

TEST(Printable, AQuoteRepeatsAtMost200Bytes) {
  EXPECT_EQ(quote("a\"b"), "\"a\"b\"");
  EXPECT_EQ(quote(std::string(200, 'x')), '"' + std::string(200, 'x') + '"');
  EXPECT_EQ(quote(std::string(100'000, 'x')), '"' + std::string(197, 'x') + "...\"");
  EXPECT_EQ(quote("\u009b"), "\"?\"");
}

}  // namespace
}  // namespace ares
