#include "aresctld/engine/view.h"

#include <utility>

namespace ares::aresctld {

ViewBoard::ViewBoard()
    : view_{std::make_shared<ClusterState>(), std::make_shared<PendingInfos>()} {}

View ViewBoard::read() const {
  std::lock_guard lock(mutex_);
  return view_;
}

void ViewBoard::publish_state(std::shared_ptr<const ClusterState> state) {
  std::shared_ptr<const ClusterState> old;  // freed outside the lock
  {
    std::lock_guard lock(mutex_);
    if (state->lsn < view_.state->lsn) return;
    old = std::exchange(view_.state, std::move(state));
  }
  changed_.notify_all();
}

void ViewBoard::publish_pending(std::shared_ptr<const PendingInfos> pending) {
  std::shared_ptr<const PendingInfos> old;
  std::lock_guard lock(mutex_);
  old = std::exchange(view_.pending, std::move(pending));
}

void ViewBoard::nudge() {
  {
    std::lock_guard lock(mutex_);
    ++view_.nudges;
  }
  changed_.notify_all();
}

bool ViewBoard::wait_beyond(Lsn seen, std::uint64_t nudges, std::optional<Duration> at_most) const {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return stopped_ || view_.state->lsn > seen || view_.nudges > nudges; };
  // Not for longer, because the library counts in nanoseconds, of which a few hundred years are too many.
  constexpr Duration kLongest = std::chrono::hours(24);
  if (at_most)
    changed_.wait_for(lock, std::min(*at_most, kLongest), ready);
  else
    changed_.wait(lock, ready);
  return !stopped_;
}

bool ViewBoard::rest(Duration time) const {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return stopped_; });
}

void ViewBoard::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace ares::aresctld
