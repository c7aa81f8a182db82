// MarkKeeper: keeps the file of StateDir at the last commit: written before anything of the commit
// is acknowledged, on disk within 100 ms. Owned by main; committed() is the journal thread's,
// object() the engine's; a thread of its own syncs.
#pragma once

#include <string>
#include <thread>

#include "base/ids.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/journal/high_water.h"

namespace ares::aresctld {

class MarkKeeper {
 public:
  explicit MarkKeeper(std::string path) : file_(std::move(path)) {}
  ~MarkKeeper();  // leaves the file synced, and marked as that of a clean end
  MarkKeeper(const MarkKeeper&) = delete;
  MarkKeeper& operator=(const MarkKeeper&) = delete;

  // Writes and syncs where the database was when it was opened. First call, or await_nodes(); an error
  // is one of the disk.
  Status begin(store::HighWaterMark opened);

  // First call in place of begin() where only the nodes can tell whether the database is the newest
  // one: nothing is written until confirm(), so that a controller that is restarted before asks them
  // again.
  void await_nodes(store::HighWaterMark opened) {
    const Lock lock(mutex_);
    mark_ = std::move(opened);
  }
  Status confirm();

  // A commit is durable, and what waits for it may leave when this returns. Numbers beyond those
  // set aside are set aside first, which waits for the disk; else this is one write to the page
  // cache.
  void committed(Epoch epoch, Lsn lsn, JobId next_job_id, NodeId next_node_id);

  // A node has heard of a later position: the next start finds it here. Synced when this returns;
  // later commits are not written.
  void object(const JournalPosition& heard);

 private:
  Status create() ARES_REQUIRES(mutex_);
  void write(bool now) ARES_REQUIRES(mutex_);
  void run();

  Mutex mutex_;
  Condition wake_;
  // Created and written with the mutex locked; synced also without it, because that takes long.
  store::HighWater file_;
  store::HighWaterMark mark_ ARES_GUARDED_BY(mutex_);
  bool created_ ARES_GUARDED_BY(mutex_) = false;
  bool unsynced_ ARES_GUARDED_BY(mutex_) = false;
  bool objected_ ARES_GUARDED_BY(mutex_) = false;
  // Both: told in the log.
  bool write_failed_ ARES_GUARDED_BY(mutex_) = false;
  bool sync_failed_ ARES_GUARDED_BY(mutex_) = false;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ares::aresctld
