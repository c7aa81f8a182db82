#include "base/interval_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace ares {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kMax = 0xffff'ffff;

std::vector<std::uint32_t> numbers(const IntervalSet& set) {
  return {set.begin(), set.end()};
}

IntervalSet parse(std::string_view text) {
  const Result<IntervalSet> set = parse_interval_set(text);
  EXPECT_TRUE(set) << set.error().message;
  return set.value_or(IntervalSet{});
}

TEST(IntervalSet, NeighboursAndOverlapsAreMerged) {
  IntervalSet set;
  set.insert(5);
  set.insert(7);
  EXPECT_EQ(set.intervals().size(), 2u);
  set.insert(6);
  EXPECT_THAT(set.intervals(), ElementsAre(IntervalSet::Interval{5, 7}));
  set.insert(0, 3);
  set.insert(2, 5);
  EXPECT_THAT(set.intervals(), ElementsAre(IntervalSet::Interval{0, 7}));
  EXPECT_EQ(set.count(), 8u);
  EXPECT_EQ(set.front(), 0u);
  EXPECT_EQ(set.back(), 7u);
}

TEST(IntervalSet, EraseSplitsTrimsAndRemoves) {
  IntervalSet set;
  set.insert(0, 9);
  set.erase(4);
  EXPECT_THAT(numbers(set), ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 9));
  set.erase(2, 6);
  EXPECT_THAT(numbers(set), ElementsAre(0, 1, 7, 8, 9));
  set.erase(9);
  set.erase(0);
  EXPECT_THAT(numbers(set), ElementsAre(1, 7, 8));
  set.erase(100);
  EXPECT_EQ(set.count(), 3u);
  set.erase(0, kMax);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.begin(), set.end());
}

TEST(IntervalSet, FirstAndLastNumbersAreSupported) {
  IntervalSet set;
  set.insert(kMax);
  set.insert(0);
  EXPECT_THAT(numbers(set), ElementsAre(0, kMax));
  set.insert(1, kMax - 1);
  EXPECT_EQ(set.count(), std::uint64_t{1} << 32);
  EXPECT_EQ(set.intervals().size(), 1u);
  set.erase(kMax);
  set.erase(0);
  EXPECT_FALSE(set.contains(0));
  EXPECT_FALSE(set.contains(kMax));
  EXPECT_TRUE(set.contains(1));
  EXPECT_TRUE(set.contains(kMax - 1));
  set.clear();
  EXPECT_FALSE(set.contains(1));
}

TEST(IntervalSet, BehavesLikeASetOfNumbers) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    IntervalSet set;
    std::set<std::uint32_t> model;
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t first = random() % 64;
      const std::uint32_t last = first + (random() % 3 == 0 ? random() % 20 : 0);
      const bool insert = random() % 2 == 0;
      for (std::uint32_t i = first; i <= last; ++i) {
        if (insert) {
          model.insert(i);
        } else {
          model.erase(i);
        }
      }
      if (insert) {
        set.insert(first, last);
      } else {
        set.erase(first, last);
      }

      ASSERT_EQ(numbers(set), std::vector<std::uint32_t>(model.begin(), model.end()));
      ASSERT_EQ(set.count(), model.size());
      for (std::uint32_t i = 0; i < 90; ++i) ASSERT_EQ(set.contains(i), model.contains(i));
      for (std::size_t i = 1; i < set.intervals().size(); ++i) {
        ASSERT_GT(set.intervals()[i].first, set.intervals()[i - 1].last + 1);
      }
      if (!set.empty()) {
        ASSERT_EQ(parse_interval_set(format_interval_set(set)), set);
      }
    }
  }
}

TEST(ParseIntervalSet, ListsRangesAndSteps) {
  EXPECT_THAT(numbers(parse("5")), ElementsAre(5));
  EXPECT_THAT(numbers(parse("1,3,5-9")), ElementsAre(1, 3, 5, 6, 7, 8, 9));
  EXPECT_THAT(numbers(parse("0-15:4")), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(numbers(parse("0-15:4,1,3,5-9")), ElementsAre(0, 1, 3, 4, 5, 6, 7, 8, 9, 12));
  EXPECT_THAT(numbers(parse("9,1-2,2-3,1")), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(numbers(parse("3-3:7")), ElementsAre(3));
  EXPECT_EQ(parse("0-1000000:1").intervals().size(), 1u);
  EXPECT_EQ(parse("0-4294967294").count(), 4294967295u);
  EXPECT_THAT(numbers(parse("4294967290-4294967294:3")), ElementsAre(4294967290u, 4294967293u));
}

TEST(ParseIntervalSet, ErrorsNameTheColumn) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "column 1: expected a number"},
      {"x", "column 1: expected a number"},
      {"1,", "column 3: expected a number"},
      {",1", "column 1: expected a number"},
      {"1-", "column 3: expected a number"},
      {"-1", "column 1: expected a number"},
      {"1-4:", "column 5: expected a number"},
      {"1:2", "column 2: expected a comma"},
      {"1 ,2", "column 2: expected a comma"},
      {"1-2-3", "column 4: expected a comma"},
      {"1-9:2:3", "column 6: expected a comma"},
      {"5-1", "column 3: the range ends before it begins"},
      {"1-4:0", "column 5: the step must be at least 1"},
      {"0-4294967294:2", "column 14: too many numbers"},
      {"4294967295", "column 1: above the limit of 4294967294"},
      {"0-99999999999", "column 3: above the limit"},
  };
  for (const Case& c : cases) {
    const Result<IntervalSet> set = parse_interval_set(c.text);
    ASSERT_FALSE(set) << c.text;
    EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(set.error().message, HasSubstr(c.message)) << c.text;
  }
  EXPECT_TRUE(parse_interval_set("0-1000", 1000));
  EXPECT_THAT(parse_interval_set("0-1001", 1000).error().message,
              HasSubstr("column 3: above the limit of 1000"));
}

// Regression: ten ranges of two million numbers each were within the bound one by one, and gigabytes in total.
TEST(ParseIntervalSet, BoundAppliesToTheWholeList) {
  std::string many = "0-1999998:2";
  EXPECT_EQ(parse("0-1999998:2").intervals().size(), 1'000'000u);
  for (int i = 1; i < 100; ++i) {
    const std::string from = std::to_string(i * 2'000'000);
    many += "," + from + "-" + std::to_string(i * 2'000'000 + 1'999'998) + ":2";
  }
  const Result<IntervalSet> set = parse_interval_set(many);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(set.error().message, HasSubstr("too many numbers: at most 1000000 separate ranges"));
  EXPECT_LT(set.error().message.size(), 300u) << "the list itself is told in part only";
}

// Regression, found by fuzzing: 17 bytes became a million ranges, more than the array of any job may have, before these were counted.
TEST(ParseIntervalSet, MoreRangesThanAllowedAreRefusedUnexpanded) {
  const auto within = [](std::string_view text, std::size_t most) {
    return parse_interval_set(text, 0xffff'fffe, most);
  };
  EXPECT_TRUE(within("0-19998:2", 10'000));
  const Result<IntervalSet> wide = within("0-7402013:9", 10'000);
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(
      wide.error().message,
      HasSubstr(
          "column 11: too many numbers: at most 10000 separate ranges are allowed; leave no gaps"));
  EXPECT_FALSE(within("1,3,5,7", 3));
  EXPECT_TRUE(within("7,6,5,4,3,2,1", 3)) << "numbers that touch are one range";
  EXPECT_TRUE(within("0-20000:2,1-19999:2", 10'000)) << "the second item fills the gaps";
}

// Regression: each number was inserted before all earlier ones.
TEST(ParseIntervalSet, DescendingListsAreFast) {
  std::string text;
  for (int i = 300'000; i > 0; --i) text += std::to_string(2 * i) + ",";
  const IntervalSet set = parse(text + "0-2:2,4");
  EXPECT_EQ(set.intervals().size(), 300'001u);
  EXPECT_EQ(set.front(), 0u);
  EXPECT_EQ(set.back(), 600'000u);
  EXPECT_THAT(numbers(parse("8-9,0-9,5,3-12,14,13")),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14));
  EXPECT_EQ(parse("8-9,0-9,5,3-12,14,13").intervals().size(), 1u);
}

TEST(FormatIntervalSet, RangesAndSteps) {
  struct Case {
    const char* in;
    const char* out;
  };
  const Case cases[] = {
      {"7", "7"},
      {"3,1,2,0,7", "0-3,7"},
      {"1,2", "1-2"},
      {"0-15:4", "0-12:4"},
      {"1,3", "1,3"},
      {"1,3,5", "1-5:2"},
      {"0,4,8,9", "0,4,8-9"},
      {"1,3,5,10,20,30,40", "1-5:2,10-40:10"},
      {"0-2,4,6,8", "0-2,4-8:2"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(format_interval_set(parse(c.in)), c.out);
    EXPECT_EQ(parse(c.out), parse(c.in));
  }
  EXPECT_EQ(format_interval_set(IntervalSet{}), "");
}

}  // namespace
}  // namespace ares
