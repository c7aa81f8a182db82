// MessageLoss: decides which messages a simulated network drops. The decision is a hash of a counter,
// so a run is repeatable except for the order of threads. Owned by main(); any thread may call it.
#pragma once

#include <atomic>
#include <cstdint>

namespace ares::aresd {

class MessageLoss {
 public:
  // `rate` of all messages, 0 to 1.
  explicit MessageLoss(double rate) : bound_(static_cast<std::uint64_t>(rate * 1e9)) {}

  bool drops_next() {
    if (bound_ == 0) return false;
    std::uint64_t x = next_.fetch_add(0x9e3779b97f4a7c15ULL, std::memory_order_relaxed);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;  // splitmix64 (Steele, Lea, Flood, 2014)
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return (x ^ (x >> 31)) % 1'000'000'000 < bound_;
  }

 private:
  const std::uint64_t bound_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace ares::aresd
