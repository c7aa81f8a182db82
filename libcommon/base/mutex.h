// Mutex, Lock and Condition: std::mutex, std::unique_lock and std::condition_variable, with attributes by which clang checks that
// what a mutex guards is used only while it is locked (contrib/check_threads.py). A Mutex is a member of the object whose members
// it guards. Any thread.
//
//   Mutex mutex_;
//   std::deque<Item> queue_ ARES_GUARDED_BY(mutex_);
//   void tidy() ARES_REQUIRES(mutex_);
//
// A lambda is checked as a function of its own: [this]() ARES_REQUIRES(mutex_) { return !queue_.empty(); }
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define ARES_THREAD_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
#define ARES_THREAD_ATTRIBUTE(...)
#endif

// Of a variable: it is used only with the mutex locked.
#define ARES_GUARDED_BY(mutex) ARES_THREAD_ATTRIBUTE(guarded_by(mutex))
// Of a function: its caller has locked the mutex, also when the function returns; or has not locked it.
#define ARES_REQUIRES(...) ARES_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define ARES_EXCLUDES(...) ARES_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// Of a function: it returns this mutex.
#define ARES_RETURNS_MUTEX(mutex) ARES_THREAD_ATTRIBUTE(lock_returned(mutex))

// For classes like those below.
#define ARES_MUTEX_TYPE ARES_THREAD_ATTRIBUTE(capability("mutex"))
#define ARES_LOCK_TYPE ARES_THREAD_ATTRIBUTE(scoped_lockable)
#define ARES_ACQUIRES(...) ARES_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ARES_ACQUIRES_SHARED(...) ARES_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define ARES_RELEASES(...) ARES_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace ares {

class ARES_MUTEX_TYPE Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // For a function that is called with the mutex locked and unlocks it for a time. Others use a Lock.
  void lock() ARES_ACQUIRES() { mutex_.lock(); }
  void unlock() ARES_RELEASES() { mutex_.unlock(); }

 private:
  friend class Lock;
  std::mutex mutex_;
};

// Keeps a mutex locked while it exists, except between unlock() and lock(). Used by the thread that made it.
class ARES_LOCK_TYPE Lock {
 public:
  explicit Lock(Mutex& mutex) ARES_ACQUIRES(mutex) : lock_(mutex.mutex_) {}
  ~Lock() ARES_RELEASES() {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void unlock() ARES_RELEASES() { lock_.unlock(); }
  void lock() ARES_ACQUIRES() { lock_.lock(); }

 private:
  friend class Condition;
  std::unique_lock<std::mutex> lock_;
};

// Lets threads wait, with the mutex unlocked meanwhile, until another thread notifies them. `lock` is locked.
class Condition {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  // Until a notification, or by chance earlier; until `true_now` returns true.
  void wait(Lock& lock) { condition_.wait(lock.lock_); }
  template <class Predicate>
  void wait(Lock& lock, Predicate true_now) {
    condition_.wait(lock.lock_, std::move(true_now));
  }

  // The same, at most until `deadline`. Returns what `true_now` returned last.
  template <class Clock, class Duration>
  void wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& deadline) {
    condition_.wait_until(lock.lock_, deadline);
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(Lock& lock, const std::chrono::time_point<Clock, Duration>& deadline,
                  Predicate true_now) {
    return condition_.wait_until(lock.lock_, deadline, std::move(true_now));
  }

  // The same, for at most `time`.
  template <class Rep, class Period, class Predicate>
  bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& time, Predicate true_now) {
    return condition_.wait_for(lock.lock_, time, std::move(true_now));
  }

 private:
  std::condition_variable condition_;
};

}  // namespace ares
