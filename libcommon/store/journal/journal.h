// Journal: the one way a change becomes durable. Three implementations: PgJournal (PostgreSQL),
// MemJournal (tests, simulation), FaultyJournal (wraps another: fails, delays, loses the answer of
// a commit). Owned by the controller's journal thread, the only one to call it once open() has
// returned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/engine/command.h"
#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::store {

// One transaction: the events of whole commands, and images of every record they changed, taken
// from the engine's state right after the last of them. Records are shared with that state; the
// journal only reads.
struct Batch {
  Epoch epoch;  // of the engine that decided; rows carry it even when sent again under a later one
  Lsn first, last;  // gap-free: first = last of the batch before + 1
  std::vector<std::shared_ptr<const Event>> events;
  std::vector<std::shared_ptr<const Job>> jobs;  // live image: insert or replace
  std::vector<JobKey> forgotten;  // leave the table of live jobs (accounting rows stay)
  std::vector<Attempt> attempts;  // accounting rows: insert or replace by AttemptKey
  std::vector<std::shared_ptr<const Node>> nodes;
  std::vector<NodeId> removed_nodes;  // left the cluster
  std::vector<std::shared_ptr<const Partition>> partitions;
  std::vector<std::shared_ptr<const Reservation>> reservations;
  std::vector<std::string> removed_reservations;
  std::vector<std::shared_ptr<const AccountingRecord>> records;
  std::vector<RecordKey> removed_records;
  std::vector<std::shared_ptr<const AssociationUsage>> usage;
  std::vector<AssociationId> removed_usage;
  // Attempts preempted since the batch before; where there are any, those before `evictions_from` are forgotten.
  std::vector<std::pair<EvictionKey, UserId>> evictions;
  Time evictions_from{};
  // Where a configuration was applied: these are all there are.
  bool replace_nodes = false;
  bool replace_partitions = false;
  // History: of these nodes and reservations it is kept how they stand from here on. With `all_history` they are all there are.
  std::vector<std::shared_ptr<const Node>> node_history;
  std::vector<std::shared_ptr<const Reservation>> reservation_history;
  bool all_history = false;
  std::vector<Tres> tres;
  std::vector<Request> requests;
  std::vector<RequestKey> expired;
  std::vector<AuditEntry> audit;
  std::vector<Blob> blobs;  // insert if absent
  JobId next_job_id;
  NodeId next_node_id;
  std::uint64_t next_record_id = kFirstRecordId;
  Time usage_since{};
  Time now{};
  Time activated_at{};
  Seconds lease{};
  Time old_leases_end{};
  std::uint64_t config_hash = 0;
};

enum class CommitOutcome {
  committed,
  doubt,  // the connection broke, or COMMIT warned: it may or may not be there. reopen(), then
          // contains(batch.last)
};

struct Opened {
  Epoch epoch;  // taken by this open or reopen: one more than the highest seen, committed
  std::string
      system;  // identifies the database itself, so that another one under the same name is noticed
  ClusterState state;  // at the controller's lsn; after reopen() only epoch and lsn are meaningful
  std::string holder{};  // names this controller process
};

class Journal {
 public:
  virtual ~Journal() = default;

  // Connects, migrates (under an advisory lock), checks durability settings, takes the next epoch
  // in a commit of its own, loads. unavailable: try again. failed_precondition, data_loss: the
  // process must stop, the text says what the administrator can do.
  virtual Result<Opened> open() = 0;

  // After doubt: connects again and takes the next epoch, without loading. Same errors.
  virtual Result<Opened> reopen() = 0;

  // Writes the batch and commits. Any error is final: fenced by another controller (stale), a gap,
  // anything unexpected.
  virtual Result<CommitOutcome> commit(const Batch& batch) = 0;

  // Whether the event with this lsn is durable. Meaningful only after reopen(). unavailable =
  // reopen again.
  virtual Result<bool> contains(Lsn lsn) = 0;

  // Reads a blob; not_found if none. May be called by another thread than commit().
  virtual Result<std::shared_ptr<const std::string>> blob(const BlobId& id) = 0;
};

}  // namespace ares::store
