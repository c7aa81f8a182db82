#include "aresctld/query_pool.h"

#include <utility>

namespace ares::aresctld {

QueryPool::QueryPool(std::size_t threads, std::size_t bound) : bound_(bound) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

QueryPool::~QueryPool() {
  stop();
}

bool QueryPool::add(std::function<void()> query) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= bound_) return false;
    queue_.push_back(std::move(query));
  }
  wake_.notify_one();
  return true;
}

void QueryPool::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

void QueryPool::run() {
  for (;;) {
    std::function<void()> query;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      query = std::move(queue_.front());
      queue_.pop_front();
    }
    query();
  }
}

}  // namespace ares::aresctld
