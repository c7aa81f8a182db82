#include "exec/kubernetes/api/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

TEST(Quantity, ProcessorsAreReadInThousandths) {
  struct Case {
    const char* text;
    std::int64_t thousandths;
  };
  for (const auto& [text, expected] : std::vector<Case>{{"250m", 250},
                                                        {"2", 2000},
                                                        {"0", 0},
                                                        {"0.5", 500},
                                                        {".5", 500},
                                                        {"2.", 2000},
                                                        {"+1", 1000},
                                                        {"1k", 1'000'000},
                                                        {"100u", 1},
                                                        {"1500000n", 2},
                                                        {"1e3", 1'000'000},
                                                        {"1E-3", 1},
                                                        {"3920m", 3920},
                                                        {"-0", 0},
                                                        {"0.0009999", 1},
                                                        {"1e-900", 1},
                                                        {"0e999", 0},
                                                        {"1Ki", 1'024'000},
                                                        {"9223372036854775807m", INT64_MAX}}) {
    const auto read = parse_thousandths(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, expected) << text;
  }
}

TEST(Quantity, BytesAreExact) {
  struct Case {
    const char* text;
    std::int64_t bytes;
  };
  for (const auto& [text, expected] :
       std::vector<Case>{{"128Mi", 128LL << 20},
                         {"1.5Gi", 3LL << 29},
                         {"1e3", 1000},
                         {"1E", 1'000'000'000'000'000'000},
                         {"1E3", 1000},
                         {"7Ei", 7LL << 60},
                         {"129e6", 129'000'000},
                         {"32986188Ki", 32986188LL << 10},
                         {"100000m", 100},
                         {"1m", 1},
                         {"0.0000000000999999999999999999Ei", 115292151},
                         {"9.2E", 9'200'000'000'000'000'000}}) {
    const auto read = parse_bytes(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(read->value(), expected) << text;
  }
}

TEST(Quantity, AmountsThatDoNotFitAreRefused) {
  for (const char* text :
       {"8Ei", "10E", "9223372036854775808", "12345678901234567890", "1e19", "1e999999999999"})
    EXPECT_FALSE(parse_count(text)) << text;
  EXPECT_FALSE(parse_thousandths("10P"));
  EXPECT_EQ(parse_count("9P").value(), 9'000'000'000'000'000);
}

TEST(Quantity, OtherTextsAreRefusedWithTheReason) {
  for (const char* text :
       {"",   "+",   "-",     ".",    "m",   "1 Gi", " 1",   "1Kib", "1ki", "1K",
        "1e", "1e+", "1e1.5", "0x10", "1,5", "--1",  "1..2", "1Mim", "inf", "nan"}) {
    const auto read = parse_bytes(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
  EXPECT_THAT(parse_bytes("1Kib").error().message,
              testing::HasSubstr("\"1Kib\" has an unknown suffix"));
  EXPECT_THAT(parse_bytes("-1").error().message, testing::HasSubstr("is negative"));
}

}  // namespace
}  // namespace ares::kubernetes
