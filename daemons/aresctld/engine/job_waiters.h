// JobWaiters: clients that wait for a job to end (`asub --wait`). One thread checks each new view
// and answers the clients whose jobs have ended. Any thread may add.
#pragma once

#include <functional>
#include <list>
#include <thread>

#include "aresctld/engine/clock.h"
#include "aresctld/engine/view.h"
#include "base/ids.h"
#include "base/mutex.h"
#include "base/time.h"

namespace ares::aresctld {

class JobWaiters {
 public:
  JobWaiters(const ViewHolder& views, Clock& clock) : views_(views), clock_(clock) {}
  ~JobWaiters() { stop(); }
  JobWaiters(const JobWaiters&) = delete;
  JobWaiters& operator=(const JobWaiters&) = delete;

  void start();
  void stop();  // stop the views first; answers all waiting clients

  // Calls `answer` once: when the job is terminal or unknown, with `start` also when it has started, at
  // `deadline`, or at stop().
  void add(JobKey job, bool start, Time deadline, std::function<void(const View&)> answer);

 private:
  struct Waiter {
    JobKey job;
    bool start = false;
    Time deadline;
    std::function<void(const View&)> answer;
  };

  void run();

  const ViewHolder& views_;
  Clock& clock_;
  Mutex mutex_;
  std::list<Waiter> waiters_ ARES_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ares::aresctld
