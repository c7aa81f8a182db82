// DeliveryQueue: messages to users that wait to be sent, and when each is due. It decides order, bounds and pauses; it sends nothing and
// reads no clock. Owned by the Notifier, under its lock.
//
// A target is what takes messages: the mail server or mail program, or a webhook. Targets take turns, and within a target its users do. Few
// messages of one target are sent at a time. A target that takes no messages is paused, with growing pauses. So neither many messages of
// one user nor a target that is slow or away delays others.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  SteadyTime taken{};       // the last time
};

struct DeliveryBounds {
  std::size_t waiting = 50'000;            // of all targets
  std::size_t of_target = 20'000;          // waiting for one
  std::size_t of_user = 5'000;             // of one user for one target
  std::size_t sent_at_once = 8;            // of all targets
  std::size_t sent_at_once_to_target = 2;  // the second one only while half of all are free
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

  // The next one that is due. It is being sent until sent(), dropped() or failed() is called with it.
  std::optional<Delivery> take(SteadyTime now);
  // When take() can have one again; none: not before add(), sent(), dropped() or failed().
  std::optional<SteadyTime> next_due() const;
  // Removes those that have waited for too long, for a target that takes no messages.
  std::vector<Delivery> expire(const RetryRules& rules, SteadyTime now);

  // True: its target had been failing and is well again.
  bool sent(const Delivery& delivery);
  // It never will be sent, and that says nothing of its target.
  void dropped(const Delivery& delivery);

  // It was not sent. `of_target`: the target takes no message at present. Else the target is taken to be at fault when several
  // messages failed in a row. `asked`: the pause that the server asked for.
  struct Failure {
    bool of_target = false;
    Seconds asked{0};
  };
  struct AfterFailure {
    Seconds pause{0};      // until it is tried again
    bool gave_up = false;  // it is dropped
    bool is_news = false;  // the target is paused and was well before
  };
  AfterFailure failed(Delivery delivery, const Failure& failure, const RetryRules& rules,
                      SteadyTime now);

  // Ends all pauses: what was wrong may have been mended.
  void retry_now();

  std::size_t waiting() const { return waiting_; }
  // Whether as much room is left as was used, so that the next overflow is news.
  bool is_half_empty() const;
  void clear();

 private:
  struct Target {
    std::map<std::string, std::deque<Delivery>> due;  // by user; no empty queues
    std::map<std::string, std::size_t> of_user;       // all of a user; no zeros
    std::string last_user;                            // served last
    std::size_t waiting = 0;                          // all
    std::size_t busy = 0;                             // being sent
    std::uint32_t failures = 0;                       // of the target, in a row
    std::uint32_t doubts = 0;                         // failures of messages, in a row
    SteadyTime paused_at{};
    SteadyTime paused_until{};
  };

  bool can_send_to(const Target& target) const;
  Delivery take_from(Target& target, SteadyTime now);
  void release(const Delivery& delivery);
  void forget_if_idle(const std::string& name);
  void make_due(SteadyTime now);

  const DeliveryBounds bounds_;
  std::map<std::string, Target> targets_;  // those with messages, or failing
  std::string last_target_;                // served last
  std::multimap<SteadyTime, Delivery> delayed_;
  std::size_t waiting_ = 0;
  std::size_t busy_ = 0;
};

}  // namespace ares::aresctld
