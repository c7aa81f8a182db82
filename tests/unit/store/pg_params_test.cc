#include "store/pg/pg_params.h"

#include <gtest/gtest.h>

namespace ares::store {
namespace {

TEST(CleanText, KeepsValidText) {
  for (const char* text : {"", "plain", "it's; DROP TABLE job; --", "tab\tnewline\n\x01\x7f",
                           "žluťoučký 🐎", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80"})
    EXPECT_EQ(clean_text(text), text);
}

TEST(CleanText, ReplacesBytesThatPostgresqlRefuses) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(clean_text(std::string_view("a\0b", 3)), "a" + mark + "b");
  EXPECT_EQ(clean_text("\xff"), mark);
  EXPECT_EQ(clean_text("\xc0\xaf"), mark + mark);                        // overlong
  EXPECT_EQ(clean_text("\xe0\x80\x80"), mark + mark + mark);             // overlong
  EXPECT_EQ(clean_text("\xed\xa0\x80"), mark + mark + mark);             // surrogate
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80"), mark + mark + mark + mark);  // beyond Unicode
  EXPECT_EQ(clean_text("x\xe2\x82"), "x" + mark + mark);                 // truncated
}

TEST(CleanText, CutsBetweenCharacters) {
  EXPECT_EQ(clean_text("aaaa", 3), "aaa");
  EXPECT_EQ(clean_text("aa\xe2\x82\xac", 4), "aa");
  EXPECT_EQ(clean_text("aa\xe2\x82\xac", 5), "aa\xe2\x82\xac");
}

TEST(ReadBigint, ReadsAllWidthsWithTheirSign) {
  EXPECT_EQ(read_bigint(std::string_view("\x00\x07", 2)), 7);
  EXPECT_EQ(read_bigint("\xff\xff"), -1);
  EXPECT_EQ(read_bigint(std::string_view("\x80\x00\x00\x00", 4)), -2147483648LL);
  EXPECT_EQ(read_bigint(PgParams().bigint(std::int64_t{-5}).values()[0]), -5);
}

TEST(Timestamp, IsReadAsWrittenAndClampedAtTheEnds) {
  for (const std::int64_t micros : {0LL, -1LL, 1'700'000'000'123'456LL}) {
    const Time time{Duration(micros)};
    EXPECT_EQ(read_timestamp(PgParams().timestamp(time).values()[0]), time);
  }
  EXPECT_EQ(read_timestamp(PgParams().timestamp(Time::max()).values()[0]), Time::max());
  EXPECT_GT(read_timestamp(PgParams().timestamp(Time::min()).values()[0]), Time::min());
}

}  // namespace
}  // namespace ares::store
