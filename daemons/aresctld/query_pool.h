// QueryPool: a few threads for answers that wait for the database, so that no other caller waits
// with them. Any thread may add; the queue is bounded, a caller above the bound is told to come
// back.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ares::aresctld {

class QueryPool {
 public:
  QueryPool(std::size_t threads, std::size_t bound);
  ~QueryPool();
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;

  // False: too many wait already.
  bool add(std::function<void()> query);
  void stop();

 private:
  void run();

  const std::size_t bound_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ares::aresctld
