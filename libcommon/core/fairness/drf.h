// Weighted dominant resource fairness: a user's dominant share is its largest part of any resource;
// the smallest one by weight is served next. (Ghodsi et al., NSDI 2011, algorithm 1, with weights.)
// Pure; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ares::core::fairness {

// used / capacity / weight as integers, compared by cross products below 2^192 without rounding.
struct DominantShare {
  std::uint64_t used = 0;
  std::uint64_t capacity = 1;
  std::uint64_t weight = 1;  // 0: served after all users with a weight
  double value() const;
};
// Negative, zero or positive: `a` has been served less, equally or more than `b`.
int compare(const DominantShare& a, const DominantShare& b);

// From amounts by resource; those that are not positive, or without capacity, are ignored.
DominantShare dominant_share(std::span<const std::int64_t> used,
                             std::span<const std::int64_t> capacity, std::uint64_t weight);

// Selects the next user while resources are allocated one job at a time. The caller numbers the
// users; ties go to the lowest number. next() is O(1), updates are O(log users).
class ProgressiveFilling {
 public:
  using User = std::uint32_t;

  // Precondition: each user is added once.
  void add(User user, const DominantShare& share);
  // The least served user; none if no user is left.
  std::optional<User> next() const;
  // The user that next() returned has a new share, or has nothing left to start.
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
