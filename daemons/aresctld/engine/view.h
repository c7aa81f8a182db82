// View: the data for queries and the scheduler. Immutable; replaced after every commit.
// Published by the engine and scheduler threads; read by any thread without waiting for either.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "model/engine/plan.h"
#include "model/engine/state.h"

namespace ares::aresctld {

struct View {
  std::shared_ptr<const ClusterState> state;
  // Why jobs are pending, from the last pass. Not journaled: the next pass computes it again.
  std::shared_ptr<const PendingInfos> pending;
  std::uint64_t wakeups = 0;  // see ViewHolder::wake_waiters
};

class ViewHolder {
 public:
  ViewHolder();

  // Before anything is published: what is called after each publication, on the thread that published. It must
  // not wait.
  void set_listener(std::function<void()> listener) { listener_ = std::move(listener); }

  View read() const;

  // Ignores a state that is older than the published one (replies may arrive out of order).
  void publish_state(std::shared_ptr<const ClusterState> state);
  void publish_pending(std::shared_ptr<const PendingInfos> pending);

  // Wakes all waiters although the state has not changed: data outside the view has, such as the
  // configuration.
  void wake_waiters();

  // Waits for a state with an lsn above `seen`, a higher number of wakeups, stop() or `at_most`.
  // False after stop().
  bool wait_for_change(Lsn seen, std::uint64_t wakeups, std::optional<Duration> at_most) const;
  // Waits for `time` or stop(); false after stop().
  bool sleep_for(Duration time) const;
  void stop();

 private:
  void tell() const {
    if (listener_) listener_();
  }

  mutable Mutex mutex_;
  mutable Condition changed_;
  View view_ ARES_GUARDED_BY(mutex_);
  bool stopped_ ARES_GUARDED_BY(mutex_) = false;
  std::function<void()> listener_;
};

}  // namespace ares::aresctld
