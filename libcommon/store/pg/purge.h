// Purge: makes partitions ahead of need and removes what is past its retention, in pieces: each call
// is one short transaction beside the commits, which never wait long for it (sql/views/050_retention.sql).
// Owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class Purge {
 public:
  explicit Purge(PgOptions options) : connection_(std::move(options), PgConnection::Use::rollup) {}

  // Errors of all functions below: unavailable = the database is unreachable, or another session
  // holds what is to be locked: try again. stale = the epoch is over.

  struct Piece {
    std::uint64_t removed = 0;
    bool more = false;  // the next call may remove more
  };

  // For `now` and some time after it, more than the journal itself makes. False: try again later.
  Result<bool> make_partitions(Time now);

  // Scripts and environments that no job has referred to for a day. The first call of a round looks
  // for them, which takes long but holds no lock.
  Result<Piece> blobs(Epoch epoch);

  // Events from before this time, a day at once. The last event always stays.
  Result<Piece> journal(Epoch epoch, Time before);

  // Entries of the audit log from before this time.
  Result<Piece> audit(Epoch epoch, Time before);

  // Output of jobs that was last added to before this time.
  Result<Piece> job_output(Epoch epoch, Time before);

  // What happened to nodes before this time.
  Result<Piece> node_events(Epoch epoch, Time before);

 private:
  struct UnusedBlob {
    std::string id;
    std::uint64_t size = 0;
  };

  Status find_unused_blobs();

  PgLazyConnection connection_;
  std::deque<UnusedBlob> unused_;  // found, not yet removed
  bool all_found_ = false;
};

}  // namespace ares::store
