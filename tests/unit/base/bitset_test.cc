#include "base/bitset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ares {
namespace {

using testing::HasSubstr;

Bitset of(std::string_view list, std::size_t size = 200) {
  const Result<Bitset> set = parse_bitset(list, size);
  EXPECT_TRUE(set) << set.error().message;
  return set.value_or(Bitset(size));
}

TEST(Bitset, SetTestReset) {
  Bitset set(130);
  EXPECT_EQ(set.size(), 130u);
  EXPECT_TRUE(set.none());
  set.set(0);
  set.set(63);
  set.set(64);
  set.set(129);
  EXPECT_EQ(set.count(), 4u);
  EXPECT_TRUE(set.test(64));
  EXPECT_FALSE(set.test(65));
  set.reset(64);
  EXPECT_FALSE(set.test(64));
  EXPECT_EQ(format_bitset(set), "0,63,129");
  set.reset_all();
  EXPECT_FALSE(set.any());
}

TEST(Bitset, AllWithSizesThatAreNotMultiplesOf64) {
  for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 128u, 130u}) {
    Bitset all(size, true);
    EXPECT_EQ(all.count(), size);
    Bitset other(size);
    other.set_all();
    EXPECT_EQ(all, other);
  }
}

TEST(Bitset, ResizeRemovesAndAdds) {
  Bitset set(70, true);
  set.resize(66);
  EXPECT_EQ(set.count(), 66u);
  set.resize(200);
  EXPECT_EQ(set.count(), 66u);
  EXPECT_FALSE(set.test(66));
  set.resize(0);
  EXPECT_EQ(set.count(), 0u);
  EXPECT_EQ(set, Bitset());
}

TEST(Bitset, FindVisitsMembers) {
  const Bitset set = of("3,63,64,199");
  std::vector<std::size_t> members;
  set.for_each([&](std::size_t i) { members.push_back(i); });
  EXPECT_THAT(members, testing::ElementsAre(3, 63, 64, 199));
  EXPECT_EQ(set.find(65), 199u);
  EXPECT_EQ(set.find(200), std::nullopt);
  EXPECT_EQ(Bitset(200).find(), std::nullopt);
  EXPECT_EQ(Bitset().find(), std::nullopt);
}

TEST(Bitset, FirstN) {
  const Bitset set = of("1,5-7,64-67,190");
  EXPECT_EQ(format_bitset(*set.first_n(0)), "");
  EXPECT_EQ(format_bitset(*set.first_n(2)), "1,5");
  EXPECT_EQ(format_bitset(*set.first_n(4)), "1,5-7");
  EXPECT_EQ(format_bitset(*set.first_n(6)), "1,5-7,64-65");
  EXPECT_EQ(*set.first_n(9), set);
  EXPECT_EQ(set.first_n(10), std::nullopt);
}

TEST(Bitset, SetOperations) {
  const Bitset a = of("0-9,100");
  const Bitset b = of("5-14,199");
  EXPECT_EQ(format_bitset(a | b), "0-14,100,199");
  EXPECT_EQ(format_bitset(a & b), "5-9");
  EXPECT_EQ(format_bitset(Bitset(a).andnot(b)), "0-4,100");
  EXPECT_EQ(a.count_and(b), 5u);
  EXPECT_TRUE(a.intersects(b));
  EXPECT_FALSE(a.intersects(of("10-99,199")));
  EXPECT_TRUE(a.contains(of("0,9,100")));
  EXPECT_TRUE(a.contains(Bitset(200)));
  EXPECT_FALSE(a.contains(b));
}

TEST(Bitset, BehavesLikeAVectorOfBools) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const std::size_t size = 1 + random() % 200;
    Bitset set(size);
    std::vector<bool> model(size);
    for (int step = 0; step < 200; ++step) {
      const std::size_t i = random() % size;
      model[i] = random() % 3 != 0;
      if (model[i]) {
        set.set(i);
      } else {
        set.reset(i);
      }
    }
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(set.test(i), model[i]);
    ASSERT_EQ(set.count(), static_cast<std::size_t>(std::count(model.begin(), model.end(), true)));
    ASSERT_EQ(parse_bitset(format_bitset(set), size), set);
    for (std::size_t n = 0; n <= set.count(); ++n) {
      const auto first = set.first_n(n);
      ASSERT_TRUE(first);
      ASSERT_EQ(first->count(), n);
      ASSERT_TRUE(set.contains(*first));
    }
  }
}

TEST(BitsetList, KernelForm) {
  EXPECT_EQ(format_bitset(of("0-3,8\n")), "0-3,8");
  EXPECT_EQ(format_bitset(of("0-6:2")), "0,2,4,6");
  EXPECT_EQ(format_bitset(of("")), "");
  EXPECT_EQ(format_bitset(of("\n")), "");
  EXPECT_EQ(format_bitset(Bitset(100, true)), "0-99");
  EXPECT_EQ(parse_bitset("", 0), Bitset());
}

TEST(BitsetList, InvalidListsAreRefused) {
  EXPECT_THAT(parse_bitset("0-200", 200).error().message, HasSubstr("above the limit of 199"));
  EXPECT_THAT(parse_bitset("0", 0).error().message, HasSubstr("room for nothing"));
  EXPECT_THAT(parse_bitset("0-3,", 8).error().message, HasSubstr("column 5: expected a number"));
  EXPECT_THAT(parse_bitset("3-0", 8).error().message, HasSubstr("ends before it begins"));
}

}  // namespace
}  // namespace ares
