// Runaways: attempts that accounting has as unfinished though the controller, and who takes over from it, knows nothing of them
// (sql/views/040_care.sql). Commits write both in one transaction, so it takes a hand in the database, or a fault, to make one.
// Over a connection of its own, made when it is needed. Owned by one thread.
#pragma once

#include <cstdint>
#include <optional>
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
  explicit Runaways(PgOptions options) : options_(std::move(options)) {}

  // Ascending, as many as one answer should hold. unavailable: the database is away.
  Result<api::RunawayJobs> list();

  // Sets those of `attempts` ended that are runaways still, with an audit row, and has the hours concerned summed up anew: how many.
  // stale: `mine` is not the controller's epoch any more.
  Result<std::uint64_t> end(const std::vector<AttemptKey>& attempts, const Principal& who,
                            Epoch mine, Time now);

 private:
  Result<PgRows> query(const char* sql, const PgParams& params = {});

  PgOptions options_;
  std::optional<PgConnection> connection_;
};

}  // namespace ares::store
