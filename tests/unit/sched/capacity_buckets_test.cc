// Tests: amounts
// Capacity buckets compared with a scan of every node.
#include "core/sched/index/capacity_buckets.h"

#include <gtest/gtest.h>

#include <random>

#include "core/sched/index/cluster_index.h"

namespace ares::core::sched {
namespace {

TEST(CapacityBuckets, KeepNodesWithEnoughAndDropNodesWithMuchLess) {
  std::mt19937_64 dice(3);
  constexpr std::size_t kNodes = 200, kStride = 4;
  CapacityBuckets buckets(kNodes, kStride);
  std::vector<Amounts> free(kNodes, Amounts(kStride, 0));
  const auto amount = [&](std::size_t column) -> std::int64_t {
    if (dice() % 5 == 0) return 0;
    return column == kMemory ? static_cast<std::int64_t>(dice() % (std::uint64_t{1} << 42))
                             : static_cast<std::int64_t>(dice() % (column == kCpus ? 512 : 9));
  };
  for (int change = 0; change < 3000; ++change) {
    const std::size_t node = dice() % kNodes;
    for (std::size_t column = 0; column < kStride; ++column) free[node][column] = amount(column);
    buckets.set(node, free[node]);
    const std::size_t column = dice() % kStride;
    const std::int64_t wanted = amount(column);
    Bitset kept(kNodes, true);
    buckets.retain_at_least(column, wanted, kept);
    for (std::size_t at = 0; at < kNodes; ++at) {
      const std::int64_t has = free[at][column];
      if (has >= wanted) {
        ASSERT_TRUE(kept.test(at)) << "column " << column << " wants " << wanted;
      } else if (column >= kFirstGpu || wanted < 16) {
        ASSERT_TRUE(column == kMemory || !kept.test(at)) << "column " << column << " has " << has;
      } else if (column == kCpus || wanted > std::int64_t{1} << 31) {
        ASSERT_FALSE(kept.test(at) && has * 4 < wanted * 3) << has << " for " << wanted;
      }
    }
  }
}

TEST(CapacityBuckets, AmountAboveAllNodesKeepsNoNode) {
  CapacityBuckets buckets(2, 3);
  buckets.set(0, Amounts{8, 1 << 20, 2});
  Bitset kept(2, true);
  buckets.retain_at_least(kFirstGpu, 3, kept);
  EXPECT_TRUE(kept.none());
}

}  // namespace
}  // namespace ares::core::sched
