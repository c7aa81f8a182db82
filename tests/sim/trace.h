// Trace: the events of a schedule, always as a hash, and as lines if verbose. The same seed gives
// the same hash. Owned by the World; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "sim/timeline.h"

namespace ares::sim {

inline std::uint64_t number_of(const AttemptKey& key) {
  return key.job.job.value() * 1'000'003 + key.job.task.value * 31ULL + key.attempt.value();
}

class Trace {
 public:
  explicit Trace(bool verbose) : verbose_(verbose) {}

  void note(Instant at, std::string_view what, std::uint64_t a = 0, std::uint64_t b = 0) {
    note(at, what, a, b, [] { return std::string(); });
  }
  // `text` is called only if lines are kept.
  template <class Text>
  void note(Instant at, std::string_view what, std::uint64_t a, std::uint64_t b, Text&& text) {
    for (const char c : what) mix(static_cast<unsigned char>(c));
    mix(static_cast<std::uint64_t>(at.count())), mix(a), mix(b);
    if (verbose_) keep(at, what, text());
  }

  std::uint64_t hash() const { return hash_; }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }
  void keep(Instant at, std::string_view what, const std::string& text) {
    const std::int64_t us = at.count();
    std::string stamp =
        std::to_string(us / 1'000'000) + "." + std::to_string(1'000'000 + us % 1'000'000).substr(1);
    lines_.push_back(stamp + " " + std::string(what) + (text.empty() ? "" : " ") + text);
    if (lines_.size() > 20'000) lines_.pop_front();
  }

  bool verbose_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  std::deque<std::string> lines_;
};

}  // namespace ares::sim
