// Tests: mutex, shared_mutex
#include "base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/shared_mutex.h"

namespace ares {
namespace {

using namespace std::chrono_literals;

class Counter {
 public:
  void add() {
    const Lock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  // Adds one by a function that unlocks the mutex in between.
  void add_slowly() {
    const Lock lock(mutex_);
    const int before = count_;
    pause();
    count_ = before + 1;
  }
  bool await(int count, std::chrono::milliseconds at_most) {
    Lock lock(mutex_);
    return changed_.wait_for(lock, at_most,
                             [&]() ARES_REQUIRES(mutex_) { return count_ >= count; });
  }
  bool await_until(int count, std::chrono::steady_clock::time_point deadline) {
    Lock lock(mutex_);
    return changed_.wait_until(lock, deadline,
                               [&]() ARES_REQUIRES(mutex_) { return count_ >= count; });
  }
  void await(int count) {
    Lock lock(mutex_);
    changed_.wait(lock, [&]() ARES_REQUIRES(mutex_) { return count_ >= count; });
  }
  // Waits without a predicate.
  void await_by_loop(int count) {
    Lock lock(mutex_);
    while (count_ < count) changed_.wait(lock);
  }
  int count() {
    const Lock lock(mutex_);
    return count_;
  }
  // Holds the lock, gives it up for `meanwhile`, and holds it again.
  template <class Function>
  int without_lock(Function meanwhile) {
    Lock lock(mutex_);
    lock.unlock();
    meanwhile();
    lock.lock();
    return count_;
  }

 private:
  void pause() ARES_REQUIRES(mutex_) {
    mutex_.unlock();
    std::this_thread::yield();
    mutex_.lock();
  }

  Mutex mutex_;
  Condition changed_;
  int count_ ARES_GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, OneThreadAtATimeHoldsALock) {
  Counter counter;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < 1000; ++k) counter.add();
      });
  }
  EXPECT_EQ(counter.count(), 4000);
}

TEST(Mutex, LockCanBeGivenUpForATime) {
  Counter counter;
  EXPECT_EQ(counter.without_lock([&] { counter.add(); }), 1);
  counter.add_slowly();
  EXPECT_EQ(counter.count(), 2);
}

TEST(Condition, WaitEndsWhenThePredicateIsTrue) {
  Counter counter;
  std::jthread adds([&] {
    for (int i = 0; i < 4; ++i) counter.add();
  });
  counter.await(1);
  counter.await_by_loop(2);
  EXPECT_TRUE(counter.await(3, 1min));
  EXPECT_TRUE(counter.await_until(4, std::chrono::steady_clock::now() + 1min));
}

TEST(Condition, WaitEndsAtTheDeadline) {
  Counter counter;
  EXPECT_FALSE(counter.await(1, 1ms));
  EXPECT_FALSE(counter.await_until(1, std::chrono::steady_clock::now() + 1ms));
}

struct Shared {
  SharedMutex mutex;
  int value ARES_GUARDED_BY(mutex) = 0;
};

TEST(SharedMutex, ReadersHoldItTogether) {
  Shared shared;
  std::atomic<int> readers = 0;
  const auto read = [&] {
    const ReadLock lock(shared.mutex);
    ++readers;
    while (readers < 2) std::this_thread::yield();
    return shared.value;
  };
  int other = -1;
  std::jthread thread([&] { other = read(); });
  EXPECT_EQ(read(), 0);
  thread.join();
  EXPECT_EQ(other, 0);
}

TEST(SharedMutex, WriterHoldsItAlone) {
  Shared shared;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < 1000; ++k) {
          const WriteLock lock(shared.mutex);
          ++shared.value;
        }
      });
  }
  const ReadLock lock(shared.mutex);
  EXPECT_EQ(shared.value, 4000);
}

}  // namespace
}  // namespace ares
