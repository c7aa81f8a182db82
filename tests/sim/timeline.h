// Timeline: true time and all future events, in order. The events of a process that dies are
// dropped. Owned by the World; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time.h"

namespace ares::sim {

using namespace std::chrono_literals;

// True time since the schedule began. Each machine sees it through its Clock.
using Instant = Duration;

// Identifies one life of something that can die: a process, a session, or a machine between two
// power losses.
struct Life {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(Life, Life) = default;
};

class Timeline {
 public:
  Timeline() { generations_.push_back(0), paused_until_.push_back({}); }

  // Events of the world itself are never dropped.
  static constexpr Life world() { return {}; }

  Life open() {
    generations_.push_back(0);
    paused_until_.push_back({});
    return {static_cast<std::uint32_t>(generations_.size() - 1), 0};
  }
  void close(Life life) {
    if (alive(life)) ++generations_[life.slot];
  }
  bool alive(Life life) const { return generations_[life.slot] == life.generation; }

  // Events of `life` before `until` are delayed until then, in the same order.
  void pause(Life life, Instant until) { paused_until_[life.slot] = until; }

  Instant now() const { return now_; }
  void at(Instant when, Life owner, std::function<void()> run) {
    push({when < now_ ? now_ : when, next_++, owner, std::move(run)});
  }
  void after(Duration delay, Life owner, std::function<void()> run) {
    at(now_ + delay, owner, std::move(run));
  }

  // Runs the next event; false if there is none before `end`.
  bool step(Instant end);
  std::uint64_t steps() const { return steps_; }

 private:
  struct Item {
    Instant at;
    std::uint64_t order;
    Life owner;
    std::function<void()> run;
  };
  static bool later(const Item& a, const Item& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
  void push(Item item);

  Instant now_{};
  std::uint64_t next_ = 0;
  std::uint64_t steps_ = 0;
  std::vector<Item> heap_;
  std::vector<std::uint32_t> generations_;
  std::vector<Instant> paused_until_;
};

}  // namespace ares::sim
