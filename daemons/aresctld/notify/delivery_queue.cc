#include "aresctld/notify/delivery_queue.h"

#include <algorithm>

namespace ares::aresctld {

Seconds retry_pause(Seconds retry_after, std::uint32_t failures, Seconds asked) {
  constexpr Seconds kLongest{3600};
  constexpr std::uint32_t kMostDoublings = 12;  // 1 s becomes more than an hour
  const std::uint32_t doublings = std::min(failures > 0 ? failures - 1 : 0, kMostDoublings);
  const Seconds grown = std::min(retry_after * (1 << doublings), std::max(kLongest, retry_after));
  return std::max(grown, asked);
}

bool DeliveryQueue::add(Delivery delivery) {
  const std::string& user = delivery.notice.user;
  const auto own = of_user_.find(user);
  if (waiting_ >= bounds_.waiting || (own != of_user_.end() && own->second >= bounds_.per_user))
    return false;
  ++waiting_;
  ++of_user_[user];
  due_[{user, delivery.webhook}].push_back(std::move(delivery));
  return true;
}

void DeliveryQueue::make_due(SteadyTime now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    auto node = delayed_.extract(delayed_.begin());
    Delivery& delivery = node.mapped();
    due_[{delivery.notice.user, delivery.webhook}].push_back(std::move(delivery));
  }
}

std::optional<Delivery> DeliveryQueue::take(SteadyTime now) {
  make_due(now);
  const auto can_take = [&](const auto& entry) {
    const auto target = targets_.find(entry.first.second);
    return target == targets_.end() ||
           (target->second.busy < bounds_.per_target && target->second.paused_until <= now);
  };
  const auto after = due_.upper_bound(last_taken_);
  auto next = std::find_if(after, due_.end(), can_take);
  if (next == due_.end()) {
    next = std::find_if(due_.begin(), after, can_take);
    if (next == after) return std::nullopt;
  }
  last_taken_ = next->first;
  Delivery taken = std::move(next->second.front());
  next->second.pop_front();
  if (next->second.empty()) due_.erase(next);
  ++targets_[taken.webhook].busy;
  return taken;
}

std::optional<SteadyTime> DeliveryQueue::next_due() const {
  std::optional<SteadyTime> next;
  const auto consider = [&](SteadyTime at) { next = next ? std::min(*next, at) : at; };
  if (!delayed_.empty()) consider(delayed_.begin()->first);
  for (const auto& [key, queue] : due_) {
    const auto target = targets_.find(key.second);
    if (target == targets_.end())
      consider({});
    else if (target->second.busy < bounds_.per_target)
      consider(target->second.paused_until);
  }
  return next;
}

void DeliveryQueue::release(const Delivery& delivery) {
  --targets_[delivery.webhook].busy;
  --waiting_;
  const auto own = of_user_.find(delivery.notice.user);
  if (--own->second == 0) of_user_.erase(own);
}

bool DeliveryQueue::sent(const Delivery& delivery) {
  release(delivery);
  const auto target = targets_.find(delivery.webhook);
  const bool was_failing = target->second.failures > 0;
  target->second.failures = 0;
  target->second.paused_until = {};
  if (target->second.busy == 0) targets_.erase(target);
  return was_failing;
}

DeliveryQueue::AfterFailure DeliveryQueue::failed(Delivery delivery, const Failure& failure,
                                                  const RetryRules& rules, SteadyTime now) {
  Target& target = targets_[delivery.webhook];
  ++delivery.tries;
  AfterFailure result;
  result.is_news = failure.of_target && target.failures == 0;
  if (failure.of_target) ++target.failures;
  result.pause = retry_pause(rules.retry_after,
                             failure.of_target ? target.failures : delivery.tries, failure.asked);
  // Of several that fail at the same time only the first one lengthens the pause.
  if (failure.of_target && now < target.paused_until) {
    --target.failures;
    result.pause = std::chrono::ceil<Seconds>(target.paused_until - now);
  } else if (failure.of_target) {
    target.paused_until = now + result.pause;
  }
  result.gave_up = now + result.pause - delivery.queued >= rules.give_up_after;
  if (result.gave_up) {
    release(delivery);
  } else {
    --target.busy;
    delayed_.emplace(now + result.pause, std::move(delivery));
  }
  return result;
}

bool DeliveryQueue::is_half_empty() const {
  return waiting_ < bounds_.waiting / 2 &&
         std::all_of(of_user_.begin(), of_user_.end(),
                     [&](const auto& own) { return own.second < bounds_.per_user / 2; });
}

void DeliveryQueue::clear() {
  due_.clear();
  delayed_.clear();
  targets_.clear();
  of_user_.clear();
  waiting_ = 0;
}

}  // namespace ares::aresctld
