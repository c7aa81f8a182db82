#include "node/launch_packet.h"

#include <gtest/gtest.h>

namespace ares::node {
namespace {

TEST(LaunchPacket, IsDecodedAsEncoded) {
  const Result<LaunchRequest> request = decode_launch_request(encode(LaunchRequest{7, "/a b\nc"}));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->number, 7u);
  EXPECT_EQ(request->directory, "/a b\nc");
  const Result<LaunchAnswer> done = decode_launch_answer(encode(LaunchAnswer{7, 42, {}}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->number, 7u);
  EXPECT_EQ(done->pid, 42);
  EXPECT_EQ(done->error, "");
  const Result<LaunchAnswer> refused = decode_launch_answer(encode(LaunchAnswer{8, 0, "no fork"}));
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->error, "no fork");
}

TEST(LaunchPacket, LaterVersionIsRefusedWithBothVersions) {
  const std::string packet = "version 2\nnumber 7\ndirectory /spool/jobs/7.1\n";
  const Result<LaunchRequest> request = decode_launch_request(packet);
  ASSERT_FALSE(request);
  EXPECT_NE(request.error().message.find("is 2, and this program understands up to 1"),
            std::string::npos)
      << request.error().message;
  EXPECT_FALSE(decode_launch_answer("version 2\nanything else\n"));
}

TEST(LaunchPacket, UnknownKeysAreLeftAlone) {
  EXPECT_TRUE(decode_launch_request("version 1\nnumber 7\ndirectory /a\ncolour blue\n"));
}

TEST(LaunchPacket, DamagedOneIsRefused) {
  for (const char* packet :
       {"", "number 7\ndirectory /a\n", "version 1\nnumber x\ndirectory /a\n",
        "version 1\nnumber 7\n", "version 1\nnumber 7\ndirectory a\n", "version -1\nnumber 7"})
    EXPECT_FALSE(decode_launch_request(packet)) << packet;
  for (const char* packet : {"", "version 1\npid 7\n", "version 1\nnumber 7\n"})
    EXPECT_FALSE(decode_launch_answer(packet)) << packet;
}

}  // namespace
}  // namespace ares::node
