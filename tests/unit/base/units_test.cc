#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ares {
namespace {

using testing::HasSubstr;

TEST(Bytes, Arithmetic) {
  EXPECT_EQ(Bytes::gib(1), Bytes::mib(1024));
  EXPECT_EQ(Bytes::mib(3) - Bytes::mib(4), Bytes(-1048576));
  EXPECT_EQ(Bytes::kib(2) * 3, 3 * Bytes(2048));
  EXPECT_LT(Bytes::mib(1023), Bytes::gib(1));
}

TEST(ParseMemory, NumberAndUnit) {
  struct Case {
    const char* text;
    Bytes amount;
  };
  const Case cases[] = {
      {"0", Bytes(0)},
      {"1500", Bytes::mib(1500)},
      {"4G", Bytes::gib(4)},
      {"4g", Bytes::gib(4)},
      {"512K", Bytes::kib(512)},
      {"2T", Bytes::gib(2048)},
      {"1P", Bytes(1ll << 50)},
      {"100M", Bytes::mib(100)},
      {"100MB", Bytes::mib(100)},
      {"100MiB", Bytes::mib(100)},
      {"7B", Bytes(7)},
      {"007m", Bytes::mib(7)},
      {"9223372036854775807B", Bytes(std::numeric_limits<std::int64_t>::max())},
  };
  for (const Case& c : cases) {
    const Result<Bytes> amount = parse_memory(c.text);
    ASSERT_TRUE(amount) << amount.error().message;
    EXPECT_EQ(*amount, c.amount) << c.text;
  }
}

TEST(ParseMemory, PlainNumberIsInTheDefaultUnit) {
  EXPECT_EQ(parse_memory("3", MemoryUnit::B), Bytes(3));
  EXPECT_EQ(parse_memory("3", MemoryUnit::KiB), Bytes::kib(3));
  EXPECT_EQ(parse_memory("3", MemoryUnit::GiB), Bytes::gib(3));
  EXPECT_EQ(parse_memory("3K", MemoryUnit::GiB), Bytes::kib(3));
}

TEST(ParseMemory, InvalidSizesAreRefused) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "expected a whole number"},
      {"G", "expected a whole number"},
      {" 4G", "expected a whole number"},
      {"+4G", "expected a whole number"},
      {"lots", "expected a whole number"},
      {"-4G", "must not be negative"},
      {"4X", "unknown unit \"X\""},
      {"4 G", "unknown unit \" G\""},
      {"4Gx", "unknown unit \"Gx\""},
      {"4GiBs", "unknown unit"},
      {"4Bi", "unknown unit"},
      {"4Gi", "unknown unit"},
      {"1.5G", "fractions"},
      {"9007199254740992K", "too large"},
      {"8192P", "too large"},
      {"99999999999999999999", "too large"},
  };
  for (const Case& c : cases) {
    const Result<Bytes> amount = parse_memory(c.text);
    ASSERT_FALSE(amount) << c.text;
    EXPECT_EQ(amount.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(amount.error().message, HasSubstr(c.message)) << c.text;
    EXPECT_THAT(amount.error().message, HasSubstr("\"" + std::string(c.text) + "\""));
  }
}

TEST(FormatMemory, UsesTheLargestUnitThatDividesIt) {
  EXPECT_EQ(format_memory(Bytes(0)), "0");
  EXPECT_EQ(format_memory(Bytes(123)), "123B");
  EXPECT_EQ(format_memory(Bytes::gib(4)), "4G");
  EXPECT_EQ(format_memory(Bytes::mib(1500)), "1500M");
  EXPECT_EQ(format_memory(Bytes::gib(1) + Bytes(1)), "1073741825B");
  EXPECT_EQ(format_memory(Bytes::gib(-4)), "-4G");
  EXPECT_EQ(format_memory(Bytes(1ll << 62)), "4096P");
}

TEST(FormatMemory, ParsesBack) {
  for (std::int64_t n : {1ll, 1023ll, 1024ll, 1536ll, 123456789ll, 1ll << 40, (1ll << 40) + 1024}) {
    EXPECT_EQ(parse_memory(format_memory(Bytes(n))), Bytes(n)) << n;
  }
}

TEST(FormatMemoryShort, HasAtMostTwoDecimals) {
  EXPECT_EQ(format_memory_short(Bytes(0)), "0");
  EXPECT_EQ(format_memory_short(Bytes(1023)), "1023B");
  EXPECT_EQ(format_memory_short(Bytes::kib(812)), "812K");
  EXPECT_EQ(format_memory_short(Bytes::gib(4)), "4G");
  EXPECT_EQ(format_memory_short(Bytes::mib(1536)), "1.50G");
  EXPECT_EQ(format_memory_short(Bytes(1234567)), "1.18M");
  EXPECT_EQ(format_memory_short(Bytes::mib(1) - Bytes(1)), "1.00M");
  EXPECT_EQ(format_memory_short(Bytes::mib(-1536)), "-1.50G");
}

}  // namespace
}  // namespace ares
