#include "base/cow_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace ares {
namespace {

using Map = CowMap<int, int>;
using Reference = std::map<int, int>;

void expect_same(const Map& map, const Reference& reference) {
  ASSERT_EQ(map.size(), reference.size());
  auto expected = reference.begin();
  map.for_each([&](int key, int value) {
    EXPECT_EQ(key, expected->first);
    EXPECT_EQ(value, expected->second);
    ++expected;
  });
}

TEST(CowMap, FindsOnlyWhatWasSet) {
  Map map;
  EXPECT_EQ(map.find(1), nullptr);
  map.set(1, 10);
  map.set(3, 30);
  map.set(1, 11);
  EXPECT_EQ(*map.find(1), 11);
  EXPECT_EQ(map.find(2), nullptr);
  EXPECT_TRUE(map.erase(1));
  EXPECT_FALSE(map.erase(1));
  EXPECT_EQ(map.find(1), nullptr);
  EXPECT_EQ(map.size(), 1u);
}

TEST(CowMap, BehavesLikeAnOrderedMapAndSnapshotsAreUnchanged) {
  std::mt19937 random(7);
  Map map;
  Reference reference;
  std::vector<std::pair<Map, Reference>> snapshots;
  for (int i = 0; i < 50'000; ++i) {
    const int key = static_cast<int>(random() % 2000);
    if (random() % 3 != 0) {
      map.set(key, i);
      reference[key] = i;
    } else {
      EXPECT_EQ(map.erase(key), reference.erase(key) > 0);
    }
    if (i % 5000 == 0) snapshots.emplace_back(map, reference);
  }
  expect_same(map, reference);
  for (const auto& [snapshot, then] : snapshots) expect_same(snapshot, then);
}

TEST(CowMap, DiffNamesExactlyTheChanges) {
  std::mt19937 random(11);
  Map map;
  for (int i = 0; i < 3000; ++i) map.set(i * 3, i);
  for (int round = 0; round < 300; ++round) {
    const Map before = map;
    std::map<int, bool> touched;
    for (std::uint32_t changes = random() % 40; changes > 0; --changes) {
      const int key = static_cast<int>(random() % 10'000);
      if (random() % 2 == 0)
        map.set(key, round);
      else
        map.erase(key);
      touched[key] = true;
    }
    int last = -1;
    Map::diff(before, map, [&](int key, const int* then, const int* now) {
      EXPECT_GT(key, last);
      last = key;
      EXPECT_TRUE(touched.contains(key));
      EXPECT_EQ(then, before.find(key));
      EXPECT_EQ(now, map.find(key));
      EXPECT_TRUE(then || now);
      touched.erase(key);
    });
    for (const auto& [key, _] : touched) EXPECT_EQ(before.find(key), map.find(key)) << key;
  }
  Map::diff(map, map, [](int, const int*, const int*) { FAIL(); });
  int all = 0;
  Map::diff(Map{}, map, [&](int, const int* then, const int*) { all += then == nullptr; });
  EXPECT_EQ(static_cast<std::size_t>(all), map.size());
}

TEST(CowMap, NearbyLookupAndLastEntryBelowAKey) {
  Map empty;
  EXPECT_EQ(empty.last_below(5), nullptr);
  std::mt19937 random(11);
  Map map;
  Reference reference;
  for (int i = 0; i < 3000; ++i) {
    const int key = static_cast<int>(random() % 20'000);
    if (random() % 4 != 0) {
      map.set(key, i);
      reference[key] = i;
    } else {
      map.erase(key);
      reference.erase(key);
    }
  }
  Map::NearbyLookup near(map), far(map);
  EXPECT_EQ(Map::NearbyLookup(empty).find(5), nullptr);
  for (int i = 0; i < 5000; ++i) {
    const int key = static_cast<int>(random() % 20'000);
    EXPECT_EQ(far.find(key), map.find(key)) << "in any order";
    EXPECT_EQ(near.find(4 * i), map.find(4 * i)) << "in ascending order";
  }
  for (int key = -1; key <= 20'001; ++key) {
    const auto* below = map.last_below(key);
    auto expected = reference.lower_bound(key);
    if (expected == reference.begin()) {
      EXPECT_EQ(below, nullptr) << key;
      continue;
    }
    --expected;
    ASSERT_NE(below, nullptr) << key;
    EXPECT_EQ(below->first, expected->first);
    EXPECT_EQ(*below->second, expected->second);
  }
}

TEST(CowMap, CopiesAreIndependent) {
  Map map;
  for (int i = 0; i < 500; ++i) map.set(i, i);
  Map copy = map;
  copy.set(7, 700);
  map.set(8, 800);
  EXPECT_EQ(*map.find(7), 7);
  EXPECT_EQ(*copy.find(8), 8);
  EXPECT_EQ(*copy.find(7), 700);
  EXPECT_EQ(*map.find(8), 800);
}

TEST(CowMap, VisitsFromAKeyUntilStopped) {
  Map map;
  for (int i = 0; i < 300; i += 3) map.set(i, i);
  std::vector<int> seen;
  map.for_each_from(100, [&](int key, int) {
    seen.push_back(key);
    return seen.size() < 4;
  });
  EXPECT_EQ(seen, (std::vector<int>{102, 105, 108, 111}));
}

TEST(CowMap, EqualityIsByContent) {
  Map a, b;
  for (int i = 0; i < 200; ++i) a.set(i, i);
  for (int i = 199; i >= 0; --i) b.set(i, i);
  EXPECT_EQ(a, b);
  b.set(5, 6);
  EXPECT_FALSE(a == b);
}

// For ThreadSanitizer: readers hold and drop snapshots while the owner continues to write.
TEST(CowMap, SnapshotsAreReadByOtherThreadsDuringWrites) {
  Map map;
  for (int i = 0; i < 1000; ++i) map.set(i, 1);
  std::vector<std::thread> readers;
  for (int round = 0; round < 50; ++round) {
    readers.emplace_back([snapshot = map] {
      long sum = 0;
      const Map again = snapshot;
      again.for_each([&](int, int value) { sum += value; });
      EXPECT_GE(sum, 1000);
    });
    for (int i = 0; i < 1000; i += 7) map.set(i, round + 1);
  }
  for (auto& reader : readers) reader.join();
}

}  // namespace
}  // namespace ares
