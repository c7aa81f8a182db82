#include "aresstepd/steps/output_spill.h"

#include <gtest/gtest.h>

#include <random>

namespace ares::stepd {
namespace {

std::string all_of(OutputSpill& spill, std::size_t at_a_time = 1000) {
  std::string bytes;
  while (!spill.empty()) EXPECT_TRUE(spill.take(bytes, at_a_time));
  return bytes;
}

TEST(OutputSpill, GivesBackWhatWasAddedInItsOrder) {
  std::mt19937 random(7);
  OutputSpill spill(testing::TempDir(), 100, Overflow::wait);
  std::string added, taken;
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes(random() % (spill.room() + 1), static_cast<char>('a' + i % 26));
    spill.add(bytes);
    added += bytes;
    EXPECT_TRUE(spill.take(taken, random() % 60));
    EXPECT_EQ(taken, added.substr(0, taken.size()));
  }
  taken += all_of(spill, 7);
  EXPECT_EQ(taken, added);
  EXPECT_EQ(spill.take_dropped(), 0U);
}

TEST(OutputSpill, FullOneHasNoRoom) {
  OutputSpill spill(testing::TempDir(), 10, Overflow::wait);
  spill.add("12345678");
  EXPECT_EQ(spill.room(), 2U);
  spill.add("90");
  EXPECT_EQ(spill.room(), 0U);
  std::string bytes;
  EXPECT_TRUE(spill.take(bytes, 3));
  EXPECT_EQ(spill.room(), 3U);
  spill.add("abc");
  EXPECT_EQ(bytes + all_of(spill), "1234567890abc");
}

TEST(OutputSpill, OldestLinesAreDroppedWholeAndCounted) {
  OutputSpill spill(testing::TempDir(), 24, Overflow::drop_oldest);
  std::string written;
  for (int i = 10; i < 60; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    EXPECT_EQ(spill.room(), 24U);
    spill.add(line);
    written += line;
  }
  const std::string left = all_of(spill, 5);
  EXPECT_EQ(left, "line 58\nline 59\n");
  EXPECT_EQ(left.size() + spill.take_dropped(), written.size());
  spill.add("more\n");
  EXPECT_EQ(all_of(spill), "more\n") << "what comes after it is whole";
}

TEST(OutputSpill, WithoutADiskOneReadIsKeptInMemory) {
  OutputSpill spill("/proc/self", 1000, Overflow::wait);
  spill.add("first");
  EXPECT_EQ(spill.room(), 0U);
  EXPECT_EQ(all_of(spill), "first");
  EXPECT_EQ(spill.room(), 1000U);
}

}  // namespace
}  // namespace ares::stepd
