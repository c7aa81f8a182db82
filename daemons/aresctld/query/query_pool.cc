#include "aresctld/query/query_pool.h"

#include <algorithm>
#include <utility>

namespace ares::aresctld {
namespace {

// Estimated duration of a query, for the retry delay of refused callers.
constexpr std::chrono::milliseconds kPerQuery{20};
constexpr std::chrono::milliseconds kLeast{100}, kMost{2000};

std::chrono::milliseconds after(std::size_t queries) {
  return std::clamp(kPerQuery * static_cast<std::int64_t>(queries), kLeast, kMost);
}

}  // namespace

QueryPool::QueryPool(std::size_t threads, Bounds bounds) : bounds_(bounds) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

QueryPool::~QueryPool() {
  stop();
}

std::optional<QueryPool::Refusal> QueryPool::add(UserId user, std::function<void()> query) {
  {
    const Lock lock(mutex_);
    if (stopping_) return Refusal{"the controller is shutting down", kLeast};
    if (waiting_ >= bounds_.waiting)
      return Refusal{"too many accounting queries wait", after(waiting_)};
    const auto found = queues_.find(user);
    if (found != queues_.end() && found->second.waiting.size() >= bounds_.waiting_per_user)
      return Refusal{"too many of your accounting queries wait",
                     after(found->second.waiting.size())};
    Queue& queue = queues_[user];
    if (queue.waiting.empty()) service_order_.push_back(user);
    queue.waiting.push_back(std::move(query));
    ++waiting_;
  }
  wake_.notify_one();
  return std::nullopt;
}

void QueryPool::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_)
    if (thread.joinable()) thread.join();
}

// The next user in service order that may use another thread.
std::optional<UserId> QueryPool::next_user() const {
  for (const UserId user : service_order_)
    if (queues_.at(user).running < bounds_.running_per_user) return user;
  return std::nullopt;
}

void QueryPool::run() {
  Lock lock(mutex_);
  for (;;) {
    std::optional<UserId> user;
    wake_.wait(lock, [&]() ARES_REQUIRES(mutex_) {
      return (user = next_user()) || (stopping_ && waiting_ == 0);
    });
    if (!user) return;
    Queue& queue = queues_[*user];
    auto query = std::move(queue.waiting.front());
    queue.waiting.pop_front();
    --waiting_;
    ++queue.running;
    std::erase(service_order_, *user);
    if (!queue.waiting.empty()) service_order_.push_back(*user);

    lock.unlock();
    query();
    query = nullptr;  // destroy its captures without the lock
    lock.lock();
    const auto mine = queues_.find(*user);
    if (--mine->second.running == 0 && mine->second.waiting.empty()) queues_.erase(mine);
    // Another thread may wait for this user's slot, or for the end.
    wake_.notify_all();
  }
}

}  // namespace ares::aresctld
