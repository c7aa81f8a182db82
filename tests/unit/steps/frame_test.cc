#include "steps/frame.h"

#include <gtest/gtest.h>

namespace ares::steps {
namespace {

std::string bytes_of(const Frame& frame) {
  std::string bytes;
  append_frame(bytes, frame);
  return bytes;
}

const Frame kOutput{FrameKind::output, 70'000, std::string("a\0b\n", 4)};

TEST(Frame, IsReadAsItWasWrittenHoweverItsBytesArrive) {
  const std::string bytes = bytes_of(kOutput) + bytes_of({FrameKind::over, 0, {}});
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    FrameReader reader;
    std::vector<Frame> read;
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      reader.add(std::string_view(bytes).substr(at, part));
      for (;;) {
        Result<std::optional<Frame>> frame = reader.next();
        ASSERT_TRUE(frame) << frame.error().message;
        if (!*frame) break;
        read.push_back(**frame);
      }
    }
    ASSERT_EQ(read.size(), 2u) << "in parts of " << part;
    EXPECT_EQ(read[0], kOutput);
    EXPECT_EQ(read[1].kind, FrameKind::over);
    EXPECT_EQ(reader.waiting(), 0u);
  }
}

TEST(Frame, LengthBeyondTheLongestIsRefusedBeforeItsBytesArrive) {
  FrameReader reader;
  reader.add("\xff\xff\xff\xff\0\0\0\0\1");
  reader.add(std::string_view("\0\0\0\0\0\0", 6));
  const Result<std::optional<Frame>> frame = reader.next();
  ASSERT_FALSE(frame);
  EXPECT_NE(frame.error().message.find("4294967295 bytes"), std::string::npos)
      << frame.error().message;
}

TEST(Frame, ManySmallOnesDoNotGrowTheBuffer) {
  FrameReader reader;
  const std::string one = bytes_of(kOutput);
  for (int i = 0; i < 20'000; ++i) {
    reader.add(one);
    if (i == 0) continue;  // one always waits
    ASSERT_TRUE(reader.next());
    ASSERT_EQ(reader.waiting(), one.size());
  }
}

}  // namespace
}  // namespace ares::steps
