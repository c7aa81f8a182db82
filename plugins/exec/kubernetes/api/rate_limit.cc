#include "exec/kubernetes/api/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace ares::kubernetes {

RateLimit::RateLimit(Rate rate, BootTime now)
    : rate_{std::max(rate.per_second, 1e-3), std::max(rate.burst, 1.0)},
      tokens_(rate_.burst),
      filled_at_(now) {}

void RateLimit::refill(BootTime now) {
  if (now <= filled_at_) return;
  const double seconds = std::chrono::duration<double>(now - filled_at_).count();
  tokens_ = std::min(rate_.burst, tokens_ + seconds * rate_.per_second);
  filled_at_ = now;
}

bool RateLimit::take(BootTime now) {
  refill(now);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

void RateLimit::take_anyway(BootTime now) {
  refill(now);
  tokens_ = std::max(tokens_ - 1, -rate_.burst);
}

BootTime RateLimit::next(BootTime now) {
  refill(now);
  if (tokens_ >= 1) return now;
  const double wait = (1 - tokens_) / rate_.per_second;
  return now + Duration(static_cast<Duration::rep>(std::ceil(wait * 1e6)) + 1);
}

}  // namespace ares::kubernetes
