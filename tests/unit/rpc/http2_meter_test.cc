#include "rpc/server/http2_meter.h"

#include <gtest/gtest.h>

#include <string>

namespace ares::rpc {
namespace {

constexpr std::uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4;
constexpr std::uint8_t kEnd = 1, kPadded = 8;
const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

void put(std::string& out, std::uint32_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<unsigned char>(number >> shift));
}

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                  const std::string& payload) {
  std::string out;
  put(out, static_cast<std::uint32_t>(payload.size()), 3);
  put(out, type, 1);
  put(out, flags, 1);
  put(out, stream, 4);
  return out + payload;
}

std::string message(std::uint32_t size, std::size_t sent) {
  std::string out(1, '\0');
  put(out, size, 4);
  return out + std::string(sent, 'x');
}

class Http2MeterTest : public ::testing::Test {
 protected:
  Http2MeterTest() { EXPECT_TRUE(meter.take(kPreface + frame(kSettings, 0, 0, "123456"))); }
  Http2Meter meter{1000};
};

TEST_F(Http2MeterTest, AWholeMessageIsNotPartial) {
  ASSERT_TRUE(meter.take(frame(kHeaders, 0, 1, "headers")));
  ASSERT_TRUE(meter.take(frame(kData, 0, 1, message(100, 60))));
  EXPECT_EQ(meter.partial_bytes(), 65u);
  ASSERT_TRUE(meter.take(frame(kData, kEnd, 1, std::string(40, 'x'))));
  EXPECT_EQ(meter.partial_bytes(), 0u);
  EXPECT_EQ(meter.opened_streams(), 1u);
}

TEST_F(Http2MeterTest, CountsTheSameByteByByte) {
  const std::string bytes = frame(kHeaders, 0, 1, "h") + frame(kData, 0, 1, message(100, 60)) +
                            frame(kHeaders, 0, 3, "h") + frame(kData, 0, 3, message(7, 7)) +
                            frame(kData, 0, 3, message(900, 1));
  Http2Meter slow{1000};
  ASSERT_TRUE(slow.take(kPreface + frame(kSettings, 0, 0, "123456")));
  for (const char& byte : bytes) ASSERT_TRUE(slow.take({&byte, 1}));
  ASSERT_TRUE(meter.take(bytes));
  EXPECT_EQ(meter.partial_bytes(), 65u + 6u);
  EXPECT_EQ(slow.partial_bytes(), meter.partial_bytes());
  EXPECT_EQ(slow.received_bytes(), meter.received_bytes());
  EXPECT_EQ(slow.opened_streams(), 2u);
}

TEST_F(Http2MeterTest, AStreamThatEndsHoldsNothing) {
  ASSERT_TRUE(meter.take(frame(kData, 0, 1, message(500, 100))));
  ASSERT_TRUE(meter.take(frame(kData, 0, 3, message(500, 200))));
  EXPECT_EQ(meter.partial_bytes(), 310u);
  ASSERT_TRUE(meter.take(frame(kReset, 0, 1, "code")));
  EXPECT_EQ(meter.partial_bytes(), 205u);
  ASSERT_TRUE(meter.take(frame(kData, kEnd, 3, "")));
  EXPECT_EQ(meter.partial_bytes(), 0u);
}

TEST_F(Http2MeterTest, RefusesAMessageByItsAnnouncedSize) {
  EXPECT_FALSE(meter.take(frame(kData, 0, 1, message(1001, 0))));
}

TEST_F(Http2MeterTest, RefusesCompressedMessagesAndPaddedFrames) {
  EXPECT_FALSE(meter.take(frame(kData, 0, 1, std::string("\1\0\0\0\5", 5))));
  Http2Meter other{1000};
  EXPECT_FALSE(other.take(kPreface + frame(kData, kPadded, 1, message(5, 5))));
}

TEST_F(Http2MeterTest, EmptyMessagesAndFramesAreTaken) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(meter.take(frame(kData, 0, 1, message(0, 0))));
    ASSERT_TRUE(meter.take(frame(kData, 0, 1, "")));
  }
  EXPECT_EQ(meter.partial_bytes(), 0u);
}

}  // namespace
}  // namespace ares::rpc
