// Runaways: attempts that accounting shows as unfinished but that no controller knows any more
// (sql/views/040_care.sql). Only manual changes or a fault cause them: a commit writes both.
// Uses a separate connection, opened when needed. Owned by one thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/engine/request.h"
#include "proto/gen/api.pb.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class Runaways {
 public:
  explicit Runaways(PgOptions options)
      : connection_(std::move(options), PgConnection::Use::rollup) {}

  // Ascending, as many as fit into one answer. unavailable: the database is unreachable.
  Result<api::RunawayJobs> list();

  // Ends those of `attempts` that are still runaways, writes an audit row, and marks their hours for
  // summing again. Returns their number. stale: `mine` is no longer the controller's epoch.
  Result<std::uint64_t> end(const std::vector<AttemptKey>& attempts, const Principal& who,
                            Epoch mine, Time now);

 private:
  PgLazyConnection connection_;
};

}  // namespace ares::store
