#include "aresctld/engine/job_waiters.h"

#include <chrono>
#include <utility>
#include <vector>

namespace ares::aresctld {
namespace {

constexpr auto kPollInterval =
    std::chrono::milliseconds(500);  // maximum delay of an answer after its deadline

bool has_ended(const ClusterState& state, const JobKey& key) {
  if (const Job* job = state.jobs.find(key)) return is_terminal(job->state);
  if (key.task.is_none()) return true;
  // A task without a record of its own ends with its array.
  const Job* array = state.jobs.find(JobKey{key.job, {}});
  return !array || is_terminal(array->state);
}

bool has_started(const ClusterState& state, const JobKey& key) {
  const Job* job = state.jobs.find(key);
  return job && job->allocation && job->started;
}

bool is_over(const ClusterState& state, const JobKey& key, bool start) {
  return has_ended(state, key) || (start && has_started(state, key));
}

}  // namespace

void JobWaiters::start() {
  thread_ = std::thread([this] { run(); });
}

void JobWaiters::stop() {
  if (thread_.joinable()) thread_.join();
}

void JobWaiters::add(JobKey job, bool start, Time deadline,
                     std::function<void(const View&)> answer) {
  const View view = views_.read();
  if (is_over(*view.state, job, start)) {
    answer(view);
    return;
  }
  const Lock lock(mutex_);
  waiters_.push_back({job, start, deadline, std::move(answer)});
}

void JobWaiters::run() {
  Lsn seen;
  std::uint64_t wakeups = 0;
  for (bool running = true; running;) {
    running = views_.wait_for_change(seen, wakeups, kPollInterval);
    const View view = views_.read();
    seen = view.state->lsn;
    wakeups = view.wakeups;
    const Time now = clock_.now();
    std::list<Waiter> finished;
    {
      const Lock lock(mutex_);
      for (auto it = waiters_.begin(); it != waiters_.end();) {
        const auto waiter = it++;
        if (!running || waiter->deadline <= now || is_over(*view.state, waiter->job, waiter->start))
          finished.splice(finished.end(), waiters_, waiter);
      }
    }
    for (Waiter& waiter : finished) waiter.answer(view);
  }
}

}  // namespace ares::aresctld
