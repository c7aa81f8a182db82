// View: what queries and the scheduler read. Immutable; a new one replaces it after every commit.
// Published by the engine and scheduler threads; read by any thread without waiting for either.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "model/engine/plan.h"
#include "model/engine/state.h"

namespace ares::aresctld {

struct View {
  std::shared_ptr<const ClusterState> state;
  // Why pending jobs wait, as the last pass found it. Not journaled: its loss is harmless because the next pass finds it again.
  std::shared_ptr<const PendingInfos> pending;
  std::uint64_t wakeups = 0;  // see ViewHolder::wake_waiters
};

class ViewHolder {
 public:
  ViewHolder();

  View read() const;

  // A state older than the published one is ignored (replies may be gathered out of order).
  void publish_state(std::shared_ptr<const ClusterState> state);
  void publish_pending(std::shared_ptr<const PendingInfos> pending);

  // What is read beside the view has changed, and the state that came with it may have been seen before: whoever waits for a
  // newer one looks again.
  void wake_waiters();

  // Waits for a state with a higher lsn than `seen`, for more than so many nudges, for stop(), but no longer than `at_most`.
  // False after stop().
  bool wait_for_change(Lsn seen, std::uint64_t wakeups, std::optional<Duration> at_most) const;
  // Waits for so long, or until stop(): false then.
  bool sleep_for(Duration time) const;
  void stop();

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  View view_;
  bool stopped_ = false;
};

}  // namespace ares::aresctld
