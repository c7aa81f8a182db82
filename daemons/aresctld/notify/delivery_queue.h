// DeliveryQueue: messages to users that wait to be sent, and when each is due. It decides order, bounds and pauses; it sends nothing and
// reads no clock. Owned by the Notifier, under its lock.
//
// Users take turns, so that many messages of one delay no other's. A target is what takes messages: the mail server, the mail program, or a
// webhook. So many of one target are sent at a time, and a target that does not take messages is paused for all, with growing pauses,
// so that neither delays the other targets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"
#include "core/job/effects/notices.h"

namespace ares::aresctld {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Delivery {
  core::Notice notice;
  std::string webhook;       // its name; empty = mail, to notice.address
  std::uint64_t number = 0;  // of this process
  SteadyTime queued{};
  std::uint32_t tries = 0;  // that failed
};

struct DeliveryBounds {
  std::size_t waiting = 20'000;  // of all users
  std::size_t per_user = 5'000;
  std::size_t per_target = 2;  // sent at the same time
};

// What ares.yaml says about messages that could not be sent.
struct RetryRules {
  Seconds retry_after{60};
  Seconds give_up_after{24 * 3600};
};

// The pause after that many failures (from 1): retry_after, doubled for each further one, at most an hour or retry_after; and no less than what the
// server asked for.
Seconds retry_pause(Seconds retry_after, std::uint32_t failures, Seconds asked);

class DeliveryQueue {
 public:
  explicit DeliveryQueue(DeliveryBounds bounds) : bounds_(bounds) {}

  // False: no room, the delivery is dropped.
  bool add(Delivery delivery);

  // The next one that is due. Its target counts as busy until sent() or failed() is called with it.
  std::optional<Delivery> take(SteadyTime now);
  // When take() can have one again; none: not before add(), sent() or failed().
  std::optional<SteadyTime> next_due() const;

  // It was sent, or never will be. True: its target had been failing and is well again.
  bool sent(const Delivery& delivery);

  // It was not sent. `of_target`: the target takes no message at present. `asked`: the pause that the server asked for.
  struct Failure {
    bool of_target = false;
    Seconds asked{0};
  };
  struct AfterFailure {
    Seconds pause{0};      // until it is tried again
    bool gave_up = false;  // it is dropped
    bool is_news = false;  // the first failure of the target since it was well
  };
  AfterFailure failed(Delivery delivery, const Failure& failure, const RetryRules& rules,
                      SteadyTime now);

  std::size_t waiting() const { return waiting_; }
  // Whether as much room is left as was used, so that the next overflow is news.
  bool is_half_empty() const;
  void clear();

 private:
  using Key = std::pair<std::string, std::string>;  // user, target
  struct Target {
    std::size_t busy = 0;
    std::uint32_t failures = 0;  // of the target in a row
    SteadyTime paused_until{};
  };

  void release(const Delivery& delivery);  // its target and its user's share
  void make_due(SteadyTime now);

  DeliveryBounds bounds_;
  std::map<Key, std::deque<Delivery>> due_;  // no empty queues
  Key last_taken_;
  std::multimap<SteadyTime, Delivery> delayed_;
  std::map<std::string, Target> targets_;       // busy or failing ones
  std::map<std::string, std::size_t> of_user_;  // waiting ones; no zeros
  std::size_t waiting_ = 0;
};

}  // namespace ares::aresctld
