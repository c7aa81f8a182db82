#include "model/job/gpu_part.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(GpuPart, IsParsedToThousandths) {
  for (const auto& [text, part] :
       {std::pair("0.5", 500u), std::pair("0.25", 250u), std::pair("0.001", 1u),
        std::pair("0.999", 999u), std::pair("00.100", 100u)}) {
    const auto read = parse_gpu_part(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, part) << text;
  }
}

TEST(GpuPart, MustBeBetweenZeroAndOne) {
  for (const char* text : {"0", "0.0", "0.000", "1", "1.0", "1.5", "2.001", "0.0005", "0.1234", "",
                           ".", "0.", ".5", "-0.5", "+0.5", "0,5", "0.5.", "0.5x", "x"})
    EXPECT_FALSE(parse_gpu_part(text)) << text;
}

TEST(GpuPart, IsDistinguishedFromCountsAndTypes) {
  for (const char* text : {"0.5", "1.5", ".5", "-1", "-0.5", "0.5.1"})
    EXPECT_TRUE(looks_like_part(text)) << text;
  for (const char* text : {"", "1", "12", "a100", "1g.10gb", ".", "-"})
    EXPECT_FALSE(looks_like_part(text)) << text;
}

TEST(GpuPart, IsPrintedAsParsed) {
  EXPECT_EQ(format_thousandths(500), "0.5");
  EXPECT_EQ(format_thousandths(1), "0.001");
  EXPECT_EQ(format_thousandths(2000), "2");
  EXPECT_EQ(format_thousandths(2250), "2.25");
  for (std::uint32_t part = 1; part < kWholeGpu; ++part)
    EXPECT_EQ(parse_gpu_part(format_thousandths(part)).value_or(0), part);
}

}  // namespace
}  // namespace ares
