// SharedMutex: std::shared_mutex, and its locks, with the attributes of base/mutex.h. For what is read often by several threads at
// once. A member of the object whose members it guards. Any thread.
#pragma once

#include <shared_mutex>

#include "base/mutex.h"

namespace ares {

class ARES_MUTEX_TYPE SharedMutex {
 public:
  constexpr SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

 private:
  friend class ReadLock;
  friend class WriteLock;
  std::shared_mutex mutex_;
};

// Keeps the mutex locked while it exists, together with other readers. Used by the thread that made it.
class ARES_LOCK_TYPE ReadLock {
 public:
  explicit ReadLock(SharedMutex& mutex) ARES_ACQUIRES_SHARED(mutex) : mutex_(mutex.mutex_) {
    mutex_.lock_shared();
  }
  ~ReadLock() ARES_RELEASES() { mutex_.unlock_shared(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  std::shared_mutex& mutex_;
};

// Keeps the mutex locked while it exists, for this thread alone.
class ARES_LOCK_TYPE WriteLock {
 public:
  explicit WriteLock(SharedMutex& mutex) ARES_ACQUIRES(mutex) : mutex_(mutex.mutex_) {
    mutex_.lock();
  }
  ~WriteLock() ARES_RELEASES() { mutex_.unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  std::shared_mutex& mutex_;
};

}  // namespace ares
