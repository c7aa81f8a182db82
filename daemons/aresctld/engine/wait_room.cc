#include "aresctld/engine/wait_room.h"

#include <chrono>
#include <utility>
#include <vector>

namespace ares::aresctld {
namespace {

constexpr auto kLook = std::chrono::milliseconds(500);  // how late a deadline may be answered

bool over(const ClusterState& state, const JobKey& key) {
  if (const Job* job = state.jobs.find(key)) return is_terminal(job->state);
  if (key.task.is_none()) return true;
  // A task that has not split off lives and ends with its array.
  const Job* array = state.jobs.find(JobKey{key.job, {}});
  return !array || is_terminal(array->state);
}

}  // namespace

void WaitRoom::start() {
  thread_ = std::thread([this] { run(); });
}

void WaitRoom::stop() {
  if (thread_.joinable()) thread_.join();
}

void WaitRoom::add(JobKey job, Time deadline, std::function<void(const View&)> answer) {
  const View view = views_.read();
  if (over(*view.state, job)) {
    answer(view);
    return;
  }
  std::lock_guard lock(mutex_);
  guests_.push_back({job, deadline, std::move(answer)});
}

void WaitRoom::run() {
  Lsn seen;
  std::uint64_t wakeups = 0;
  for (bool running = true; running;) {
    running = views_.wait_for_change(seen, wakeups, kLook);
    const View view = views_.read();
    seen = view.state->lsn;
    wakeups = view.wakeups;
    const Time now = clock_.now();
    std::list<Guest> leaving;
    {
      std::lock_guard lock(mutex_);
      for (auto it = guests_.begin(); it != guests_.end();) {
        const auto guest = it++;
        if (!running || guest->deadline <= now || over(*view.state, guest->job))
          leaving.splice(leaving.end(), guests_, guest);
      }
    }
    for (Guest& guest : leaving) guest.answer(view);
  }
}

}  // namespace ares::aresctld
