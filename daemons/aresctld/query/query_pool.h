// QueryPool: a few threads for answers that wait for the database, so that no other caller waits
// with them. Users take turns, and none of them has all threads, so that one user's loop does not
// keep the others waiting. Any thread may add; queues are bounded, a caller above the bound is told
// when to come back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/ids.h"

namespace ares::aresctld {

class QueryPool {
 public:
  struct Bounds {
    std::size_t waiting = 256;  // of all users together
    std::size_t waiting_per_user = 16;
    std::size_t running_per_user = 1;  // at least one; fewer than there are threads
  };
  struct Refusal {
    std::string why;
    std::chrono::milliseconds retry_after;
  };

  QueryPool(std::size_t threads, Bounds bounds);
  ~QueryPool();
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;

  // Nothing if the query was taken; it runs once, later, on a thread of the pool.
  std::optional<Refusal> add(UserId user, std::function<void()> query);
  // Runs what waits, then ends the threads.
  void stop();

 private:
  struct Queue {
    std::deque<std::function<void()>> waiting;
    std::size_t running = 0;
  };

  void run();
  std::optional<UserId> next_user() const;

  const Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<UserId, Queue> queues_;    // of users who have something here
  std::deque<UserId> service_order_;  // users with something waiting, who comes next first
  std::size_t waiting_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
