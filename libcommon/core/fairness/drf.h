// Weighted dominant resource fairness: a user's dominant share is the largest part of any one resource that he uses, and who
// has the smallest by his weight is served next. (Ghodsi et al., NSDI 2011, algorithm 1, with weights.)
// Pure; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ares::core::fairness {

// used / capacity / weight, kept as three integers and compared by cross products below 2^192: never rounded.
struct DominantShare {
  std::uint64_t used = 0;
  std::uint64_t capacity = 1;
  std::uint64_t weight = 1;  // 0: comes after everybody who has one
  double value() const;
};
// Negative, zero, positive: `a` is less, as much, more served than `b`.
int compare(const DominantShare& a, const DominantShare& b);

// Of amounts by resource; what the cluster does not have, and negative amounts, count for nothing.
DominantShare dominant_share(std::span<const std::int64_t> used,
                             std::span<const std::int64_t> capacity, std::uint64_t weight);

// Who is next while resources are given away one job at a time. Users are numbers of the caller's; ties go to the lowest.
// next() costs nothing while the same user stays first, else O(log users).
class ProgressiveFilling {
 public:
  using User = std::uint32_t;

  // Precondition: added once each.
  void add(User user, const DominantShare& share);
  // The least served user; nothing if none is left.
  std::optional<User> next() const;
  // The one that next() names has another share now, or has nothing left to start.
  void serve(const DominantShare& share);
  void drop();

 private:
  struct HeapEntry {
    DominantShare share;
    User user = 0;
  };
  static bool behind(const HeapEntry& a, const HeapEntry& b);
  std::vector<HeapEntry> heap_;
};

}  // namespace ares::core::fairness
