// EndedLog: which attempts ended, in the order in which that was committed, from the journal. A client that was told of those up to
// one change can go on behind it, also after a restart of the controller.
// Any thread may query; see PgPool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgPool;

struct EndedAttempt {
  JobKey job;
  std::uint32_t attempt = 0;
  Time ended{};  // of its row in accounting, which this and the two above name
  bool requeued = false;
};

struct EndedAttempts {
  std::vector<EndedAttempt> attempts;
  Lsn upto;             // the last change that was looked at
  bool missed = false;  // the journal does not reach back to `after` any more (retention.journal)
};

class EndedLog {
 public:
  // The options must not name a replica: it would be behind the journal.
  explicit EndedLog(PgOptions options, std::size_t connections = 2);
  ~EndedLog();

  // Of the changes behind `after` up to `upto`, or of the first of them if there are many.
  // unavailable: the database is unreachable.
  Result<EndedAttempts> query(Lsn after, Lsn upto);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
