#include "node/checkpoint_fields.h"

#include <gtest/gtest.h>

namespace ares::node {
namespace {

std::vector<Checkpoint> two() {
  Checkpoint first{6, AttemptNo(1), {}, Bytes(10), "/s/12/000006.1", Time(Duration(5))};
  first.manifest[0] = 0xab;
  first.manifest[31] = 0x01;
  return {first, {7, AttemptNo(2), {}, Bytes(0), "/with space\nand line", Time(Duration(6))}};
}

TEST(CheckpointFields, RecordRoundTrips) {
  const auto read = decode_checkpoints(encode(two()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, two());
  EXPECT_TRUE(decode_checkpoints("")->empty());
}

TEST(CheckpointFields, DamagedRecordIsRefused) {
  EXPECT_FALSE(decode_checkpoints("checkpoint 7\n"));
  std::string text = encode(two());
  text.replace(text.find("ab"), 2, "xy");
  EXPECT_FALSE(decode_checkpoints(text));
}

TEST(CheckpointFields, DigestsAreSixtyFourHexadecimalDigits) {
  const std::string hex = hex_of(two()[0].manifest);
  EXPECT_EQ(hex.size(), 64u);
  EXPECT_EQ(hex.substr(0, 4), "ab00");
  EXPECT_EQ(digest_of(hex), two()[0].manifest);
  EXPECT_FALSE(digest_of(hex.substr(1)));
  EXPECT_FALSE(digest_of("AB" + hex.substr(2))) << "only what hex_of() writes";
}

TEST(CheckpointFields, RestoredIsReadBackAndTheEmptyRecordIsNone) {
  const std::optional<Restored> restored = Restored{AttemptNo(3), 7, 1};
  EXPECT_EQ(decode_restored(encode(restored)).value(), restored);
  EXPECT_EQ(decode_restored("").value(), std::nullopt) << "the attempt looks for one yet";
  EXPECT_FALSE(decode_restored("attempt 3\nsequence x\npassed_over 1\n"));
}

}  // namespace
}  // namespace ares::node
