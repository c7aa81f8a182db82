#include "asim/outcome.h"

namespace ares::sim {
namespace {

constexpr std::size_t kMostSpans = 2048;

double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

void add_up(History::Level& sum, double factor, const History::Level& level) {
  sum.cpus += factor * level.cpus;
  sum.gpus += factor * level.gpus;
  sum.running += factor * level.running;
  sum.waiting += factor * level.waiting;
  sum.lost_gpus += factor * level.lost_gpus;
}

}  // namespace

void History::until(Time now, const Level& level) {
  const Duration to = now - from_;
  if (to <= last_) return;
  add_up(total_, seconds(to - last_), level);
  while (to > span_ * static_cast<std::int64_t>(kMostSpans)) {
    for (std::size_t i = 0; 2 * i < sums_.size(); ++i) {
      Level both = sums_[2 * i];
      if (2 * i + 1 < sums_.size()) add_up(both, 1, sums_[2 * i + 1]);
      sums_[i] = both;
    }
    sums_.resize((sums_.size() + 1) / 2);
    span_ *= 2;
  }
  while (last_ < to) {
    const auto at = static_cast<std::size_t>(last_ / span_);
    const Duration end = std::min<Duration>(to, span_ * static_cast<std::int64_t>(at + 1));
    if (sums_.size() <= at) sums_.resize(at + 1);
    add_up(sums_[at], seconds(end - last_), level);
    last_ = end;
  }
}

std::vector<History::Level> History::averages() const {
  std::vector<Level> out(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const Duration from = span_ * static_cast<std::int64_t>(i);
    const double length = seconds(std::min<Duration>(span_, last_ - from));
    if (length > 0) add_up(out[i], 1 / length, sums_[i]);
  }
  return out;
}

}  // namespace ares::sim
