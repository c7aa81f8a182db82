#include "aresctld/notify/delivery_queue.h"

#include <algorithm>

namespace ares::aresctld {
namespace {

// So many messages in a row that fail for no reason of the target's own make it suspect.
constexpr std::uint32_t kDoubts = 3;

// The first entry after `last` in the order of a ring for which `good` holds; none: end().
template <class Map, class Good>
auto next_after(Map& map, const std::string& last, Good good) {
  const auto after = map.upper_bound(last);
  const auto next = std::find_if(after, map.end(), good);
  if (next != map.end()) return next;
  const auto wrapped = std::find_if(map.begin(), after, good);
  return wrapped == after ? map.end() : wrapped;
}

}  // namespace

Seconds retry_pause(Seconds retry_after, std::uint32_t failures, Seconds asked) {
  constexpr Seconds kLongest{3600};
  constexpr std::uint32_t kMostDoublings = 12;  // 1 s becomes more than an hour
  const std::uint32_t doublings = std::min(failures > 0 ? failures - 1 : 0, kMostDoublings);
  const Seconds grown = std::min(retry_after * (1 << doublings), std::max(kLongest, retry_after));
  return std::max(grown, asked);
}

bool DeliveryQueue::add(Delivery delivery) {
  if (waiting_ >= bounds_.waiting) return false;
  Target& target = targets_[delivery.webhook];
  const auto own = target.of_user.find(delivery.notice.user);
  if (target.waiting >= bounds_.of_target ||
      (own != target.of_user.end() && own->second >= bounds_.of_user))
    return false;
  ++waiting_;
  ++target.waiting;
  ++target.of_user[delivery.notice.user];
  target.due[delivery.notice.user].push_back(std::move(delivery));
  return true;
}

void DeliveryQueue::make_due(SteadyTime now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto node = delayed_.extract(delayed_.begin());
    Delivery& delivery = node.mapped();
    targets_[delivery.webhook].due[delivery.notice.user].push_back(std::move(delivery));
  }
}

bool DeliveryQueue::can_send_to(const Target& target) const {
  if (target.due.empty() || busy_ >= bounds_.sent_at_once) return false;
  if (target.busy == 0) return true;
  return target.busy < bounds_.sent_at_once_to_target && 2 * busy_ < bounds_.sent_at_once;
}

Delivery DeliveryQueue::take_from(Target& target, SteadyTime now) {
  const auto user = next_after(target.due, target.last_user, [](const auto&) { return true; });
  target.last_user = user->first;
  Delivery taken = std::move(user->second.front());
  user->second.pop_front();
  if (user->second.empty()) target.due.erase(user);
  taken.taken = now;
  ++target.busy;
  ++busy_;
  return taken;
}

std::optional<Delivery> DeliveryQueue::take(SteadyTime now) {
  make_due(now);
  const auto next = next_after(targets_, last_target_, [&](const auto& entry) {
    return can_send_to(entry.second) && entry.second.paused_until <= now;
  });
  if (next == targets_.end()) return std::nullopt;
  last_target_ = next->first;
  return take_from(next->second, now);
}

std::optional<SteadyTime> DeliveryQueue::next_due() const {
  std::optional<SteadyTime> next;
  const auto consider = [&](SteadyTime at) { next = next ? std::min(*next, at) : at; };
  if (!delayed_.empty()) consider(delayed_.begin()->first);
  for (const auto& [name, target] : targets_)
    if (can_send_to(target)) consider(target.paused_until);
  return next;
}

std::vector<Delivery> DeliveryQueue::expire(const RetryRules& rules, SteadyTime now) {
  std::vector<Delivery> expired;
  for (auto& [name, target] : targets_) {
    if (target.failures == 0) continue;
    for (auto user = target.due.begin(); user != target.due.end();) {
      std::deque<Delivery>& queue = user->second;
      while (!queue.empty() && now - queue.front().queued >= rules.give_up_after) {
        expired.push_back(std::move(queue.front()));
        queue.pop_front();
        ++target.busy;  // as if it had been taken
        ++busy_;
      }
      user = queue.empty() ? target.due.erase(user) : std::next(user);
    }
  }
  for (const Delivery& delivery : expired) dropped(delivery);
  return expired;
}

void DeliveryQueue::release(const Delivery& delivery) {
  Target& target = targets_[delivery.webhook];
  --target.busy;
  --busy_;
  --target.waiting;
  --waiting_;
  const auto own = target.of_user.find(delivery.notice.user);
  if (--own->second == 0) target.of_user.erase(own);
}

void DeliveryQueue::forget_if_idle(const std::string& name) {
  const auto target = targets_.find(name);
  if (target->second.waiting == 0 && target->second.failures == 0) targets_.erase(target);
}

bool DeliveryQueue::sent(const Delivery& delivery) {
  release(delivery);
  Target& target = targets_[delivery.webhook];
  target.doubts = 0;
  // One that was under way when the target asked for a pause does not end that.
  const bool is_news = target.failures > 0 && target.paused_at <= delivery.taken;
  if (is_news) {
    target.failures = 0;
    target.paused_until = {};
  }
  forget_if_idle(delivery.webhook);
  return is_news;
}

void DeliveryQueue::dropped(const Delivery& delivery) {
  release(delivery);
  forget_if_idle(delivery.webhook);
}

DeliveryQueue::AfterFailure DeliveryQueue::failed(Delivery delivery, const Failure& failure,
                                                  const RetryRules& rules, SteadyTime now) {
  Target& target = targets_[delivery.webhook];
  ++delivery.tries;
  // A message that fails for the second time says no more about the target than before.
  if (!failure.of_target && delivery.tries == 1) ++target.doubts;
  AfterFailure result;
  result.pause = retry_pause(rules.retry_after, delivery.tries, failure.asked);
  if (failure.of_target || target.doubts >= kDoubts) {
    // Of several that fail at the same time only the first one lengthens the pause.
    if (now >= target.paused_until) {
      result.is_news = target.failures == 0;
      ++target.failures;
      target.paused_at = now;
      target.paused_until = now + retry_pause(rules.retry_after, target.failures, failure.asked);
    } else {
      target.paused_until = std::max<SteadyTime>(target.paused_until, now + failure.asked);
    }
    result.pause = std::max(result.pause, std::chrono::ceil<Seconds>(target.paused_until - now));
  }
  result.gave_up = now + result.pause - delivery.queued >= rules.give_up_after;
  if (result.gave_up) {
    dropped(delivery);
  } else {
    --target.busy;
    --busy_;
    delayed_.emplace(now + result.pause, std::move(delivery));
  }
  return result;
}

void DeliveryQueue::retry_now() {
  make_due(SteadyTime::max());
  for (auto& [name, target] : targets_) target.paused_until = {};
}

bool DeliveryQueue::is_half_empty() const {
  return waiting_ < bounds_.waiting / 2 &&
         std::all_of(targets_.begin(), targets_.end(), [&](const auto& entry) {
           const auto& of_user = entry.second.of_user;
           return entry.second.waiting < bounds_.of_target / 2 &&
                  std::all_of(of_user.begin(), of_user.end(), [&](const auto& own) {
                    return own.second < std::max<std::size_t>(bounds_.of_user / 2, 1);
                  });
         });
}

void DeliveryQueue::clear() {
  targets_.clear();
  delayed_.clear();
  waiting_ = busy_ = 0;
}

}  // namespace ares::aresctld
