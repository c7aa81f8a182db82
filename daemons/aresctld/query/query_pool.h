// QueryPool: threads for answers that wait for the database, so that other callers do not wait.
// Users are served in turn, and no user can use all threads, so that a user's loop does not
// block the others. Any thread may add. Queues are bounded; a refused caller is told
// when to retry.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/ids.h"
#include "base/mutex.h"

namespace ares::aresctld {

class QueryPool {
 public:
  struct Bounds {
    std::size_t waiting = 256;  // of all users together
    std::size_t waiting_per_user = 16;
    std::size_t running_per_user = 1;  // at least one, fewer than there are threads
  };
  struct Refusal {
    std::string why;
    std::chrono::milliseconds retry_after;
  };

  QueryPool(std::size_t threads, Bounds bounds);
  ~QueryPool();
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;

  // None if the query was accepted; it runs once, later, on a thread of the pool.
  std::optional<Refusal> add(UserId user, std::function<void()> query);
  // Runs the queued queries, then ends the threads.
  void stop();

 private:
  struct Queue {
    std::deque<std::function<void()>> waiting;
    std::size_t running = 0;
  };

  void run();
  std::optional<UserId> next_user() const ARES_REQUIRES(mutex_);

  const Bounds bounds_;
  Mutex mutex_;
  Condition wake_;
  // Of users with waiting or running queries.
  std::map<UserId, Queue> queues_ ARES_GUARDED_BY(mutex_);
  // Users with waiting queries; the front is next.
  std::deque<UserId> service_order_ ARES_GUARDED_BY(mutex_);
  std::size_t waiting_ ARES_GUARDED_BY(mutex_) = 0;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
