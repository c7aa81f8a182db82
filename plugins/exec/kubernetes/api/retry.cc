#include "exec/kubernetes/api/retry.h"

#include <algorithm>

namespace ares::kubernetes {

Duration delay_after(unsigned failures, const BackOff& back_off, Random& random) {
  Duration delay = back_off.first;
  for (unsigned i = 1; i < failures && delay < back_off.most; ++i) delay *= 2;
  delay = std::min(delay, back_off.most);
  return random.between(delay / 2, delay);
}

Duration asked_delay(const Reply& reply, const BackOff& back_off) {
  return std::min(reply.retry_after.value_or(Duration{}), back_off.most);
}

Verdict judge(const Reply& reply, const Trial& trial, const RetryRules& rules, Random& random) {
  const Failure failure = failure_of(reply);
  switch (failure) {
    case Failure::none: return {};
    case Failure::unauthenticated:
      if (!trial.has_reloaded) return {Verdict::Next::reload, failure, {}};
      break;
    case Failure::unavailable: {
      // The same method is not implemented by another try either.
      if (reply.status == 501 || reply.status == 505) break;
      if (trial.tries >= rules.most_tries) break;
      const Duration delay = delay_after(trial.tries, rules.back_off, random);
      return {Verdict::Next::again, failure, std::max(delay, asked_delay(reply, rules.back_off))};
    }
    case Failure::not_found:
    case Failure::already_exists:
    case Failure::conflict:
    case Failure::gone:
    case Failure::invalid:
    case Failure::quota:
    case Failure::forbidden:
    case Failure::terminating:
    case Failure::unusable: break;
  }
  return {Verdict::Next::fail, failure, {}};
}

}  // namespace ares::kubernetes
