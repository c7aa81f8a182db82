// MemDatabase: the contents of a database, in memory. MemJournal: one controller's session with it.
// Several sessions may share a database, like an old and a new controller: the older one is fenced.
// For tests and the simulation. A MemDatabase may be used by several threads, a MemJournal by one.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "store/journal/journal.h"

namespace ares::store {

class MemDatabase {
 public:
  // All durable data. A copy serves as a backup.
  struct Contents {
    Epoch epoch;
    std::uint64_t holder = 0;                          // session that took the epoch
    ClusterState images;                               // without indexes
    std::vector<std::shared_ptr<const Event>> events;  // [i] has lsn i + 1
    std::map<AttemptKey, Attempt> attempts;
    std::vector<AuditEntry> audit;
    std::map<BlobId, std::shared_ptr<const std::string>> blobs;
  };

  explicit MemDatabase(ClusterId cluster = ClusterId(1)) { contents_.images.cluster = cluster; }

  // The state from which a controller that opened now would start, except for the epoch.
  ClusterState recovered() const;
  Contents contents() const;
  void restore(Contents backup);

 private:
  friend class MemJournal;
  mutable Mutex mutex_;
  Contents contents_ ARES_GUARDED_BY(mutex_);
  std::uint64_t last_session_ ARES_GUARDED_BY(mutex_) = 0;
};

class MemJournal final : public Journal {
 public:
  explicit MemJournal(std::shared_ptr<MemDatabase> database);

  Result<Opened> open() override;
  Result<Opened> reopen() override;
  Result<CommitOutcome> commit(const Batch& batch) override;
  Result<bool> contains(Lsn lsn) override;
  Result<std::shared_ptr<const std::string>> blob(const BlobId& id) override;
  Result<std::string> secret() override;

 private:
  Opened opened(ClusterState state);

  std::shared_ptr<MemDatabase> database_;
  std::uint64_t session_;
  Epoch epoch_;
};

}  // namespace ares::store
