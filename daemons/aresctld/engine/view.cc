#include "aresctld/engine/view.h"

#include <utility>

namespace ares::aresctld {

ViewHolder::ViewHolder()
    : view_{std::make_shared<ClusterState>(), std::make_shared<PendingInfos>()} {}

View ViewHolder::read() const {
  const Lock lock(mutex_);
  return view_;
}

void ViewHolder::publish_state(std::shared_ptr<const ClusterState> state) {
  std::shared_ptr<const ClusterState> old;  // freed outside the lock
  {
    const Lock lock(mutex_);
    if (state->lsn < view_.state->lsn) return;
    old = std::exchange(view_.state, std::move(state));
  }
  changed_.notify_all();
  tell();
}

void ViewHolder::publish_pending(std::shared_ptr<const PendingInfos> pending) {
  std::shared_ptr<const PendingInfos> old;
  {
    const Lock lock(mutex_);
    old = std::exchange(view_.pending, std::move(pending));
  }
  tell();
}

void ViewHolder::wake_waiters() {
  {
    const Lock lock(mutex_);
    ++view_.wakeups;
  }
  changed_.notify_all();
}

bool ViewHolder::wait_for_change(Lsn seen, std::uint64_t wakeups,
                                 std::optional<Duration> at_most) const {
  Lock lock(mutex_);
  const auto ready = [&]() ARES_REQUIRES(mutex_) {
    return stopped_ || view_.state->lsn > seen || view_.wakeups > wakeups;
  };
  // The library converts to nanoseconds, which overflow after about 292 years.
  constexpr Duration kLongest = std::chrono::hours(24);
  if (at_most)
    changed_.wait_for(lock, std::min(*at_most, kLongest), ready);
  else
    changed_.wait(lock, ready);
  return !stopped_;
}

bool ViewHolder::sleep_for(Duration time) const {
  Lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&]() ARES_REQUIRES(mutex_) { return stopped_; });
}

void ViewHolder::stop() {
  {
    const Lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

}  // namespace ares::aresctld
