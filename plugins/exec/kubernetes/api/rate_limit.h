// RateLimit: a token bucket, which keeps a client from overloading an API server. Owned by the Client; one thread.
#pragma once

#include "base/time.h"

namespace ares::kubernetes {

struct Rate {
  double per_second = 50;
  double burst = 100;  // at once, after a pause; at least 1
};

class RateLimit {
 public:
  RateLimit(Rate rate, BootTime now);

  // Takes a token if there is one.
  bool take(BootTime now);
  // Takes one in any case, so that later requests wait for this one that did not.
  void take_anyway(BootTime now);
  // When take() succeeds next; not before `now`.
  BootTime next(BootTime now);

 private:
  void refill(BootTime now);

  Rate rate_;
  double tokens_;
  BootTime filled_at_;
};

}  // namespace ares::kubernetes
