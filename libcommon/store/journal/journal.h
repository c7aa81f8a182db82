// Journal: the only way to make a change durable. Implementations: PgJournal (PostgreSQL),
// MemJournal (tests, simulation), FaultyJournal (wraps another: fails, delays, loses the answer of
// a commit). Owned by the controller's journal thread, the only caller after open() has
// returned (except for blob()).
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

// One transaction: the events of whole commands and images of every record they changed, taken
// from the engine's state right after the last event. The records are shared with that state; the
// journal only reads.
// What happened to a node, for its history.
struct NodeEvent {
  Time at{};
  NodeId node;
  std::string name;          // empty: the node is gone
  std::string_view what;     // "DRAIN"; a literal
  std::optional<UserId> by;  // none: the controller
  std::string detail;
};

struct Batch {
  Epoch epoch;  // of the engine that decided; rows keep it if they are sent again in a later epoch
  Lsn first, last;  // without gaps: first = last of the previous batch + 1
  std::vector<std::shared_ptr<const Event>> events;
  std::vector<std::shared_ptr<const Job>> jobs;  // live image: insert or replace
  std::vector<JobKey> forgotten;  // to delete from the table of live jobs (accounting rows stay)
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
  // Preempted since the previous batch; if any, those before `evictions_from` are deleted.
  std::vector<std::pair<EvictionKey, UserId>> evictions;
  Time evictions_from{};
  // After a configuration was applied: the lists above are complete, other rows are deleted.
  bool replace_nodes = false;
  bool replace_partitions = false;
  // History: status of these from now on. With `all_history` the lists are complete.
  std::vector<std::shared_ptr<const Node>> node_history;
  std::vector<std::shared_ptr<const Reservation>> reservation_history;
  bool all_history = false;
  std::vector<Tres> tres;
  std::vector<Request> requests;
  std::vector<RequestKey> expired;
  std::vector<AuditEntry> audit;
  std::vector<NodeEvent> node_events;
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
  doubt,  // the connection broke, or COMMIT warned: the outcome is unknown. Call reopen(), then
          // contains(batch.last)
};

struct Opened {
  Epoch epoch;  // taken by this open or reopen: one more than the highest seen; already committed
  std::string
      system;  // identifies the database, so that another database with the same name is detected
  ClusterState state;  // at the controller's lsn; after reopen() only epoch and lsn are meaningful
  std::string holder{};  // names this controller process
};

class Journal {
 public:
  virtual ~Journal() = default;

  // Connects, migrates (under an advisory lock), checks durability settings, takes the next epoch
  // in a separate commit, loads. unavailable: try again. failed_precondition, data_loss: the
  // process must stop; the text tells the administrator what to do.
  virtual Result<Opened> open() = 0;

  // After `doubt`: connects again and takes the next epoch, without loading. Same errors as open().
  virtual Result<Opened> reopen() = 0;

  // Writes the batch and commits. resource_exhausted: nothing was written, because the server has no
  // room (disk, memory); the same batch may be offered again. Any other error is final: stale
  // (fenced by another controller), a gap, or anything unexpected.
  virtual Result<CommitOutcome> commit(const Batch& batch) = 0;

  // Whether the event with this lsn is durable. Valid only after reopen(). unavailable =
  // reopen again.
  virtual Result<bool> contains(Lsn lsn) = 0;

  // Reads a blob; not_found if it does not exist. Other threads than that of commit() may call it.
  virtual Result<std::shared_ptr<const std::string>> blob(const BlobId& id) = 0;

  // 32 random bytes that the cluster keeps for ever, from which keys are derived. Any thread.
  virtual Result<std::string> secret() = 0;
};

}  // namespace ares::store
