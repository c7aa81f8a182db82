// Delays between tries: they double up to a bound, with jitter to spread the load of many clients.
// A plain value, owned by the retrying object; one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace ares::rpc {

class Backoff {
 public:
  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds max)
      : first_(first), max_(max), next_(first), random_(std::random_device{}()) {}

  // Between half of the current delay and the full delay.
  std::chrono::milliseconds next() {
    const auto whole = std::max(std::min(next_, max_), std::chrono::milliseconds{1});
    next_ = std::min(next_ * 2, max_);
    std::uniform_int_distribution<std::int64_t> pick(whole.count() / 2, whole.count());
    return std::chrono::milliseconds{pick(random_)};
  }
  void reset() { next_ = first_; }

 private:
  std::chrono::milliseconds first_, max_, next_;
  std::minstd_rand random_;
};

}  // namespace ares::rpc
