// Rollup: sums accounting up by hour, day and month (sql/views/020_rollup.sql), over a connection of its own, so that it holds up
// neither the journal nor reports.
// Owned by one thread at a time.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class Rollup {
 public:
  // The time that is summed up, whole hours.
  struct Range {
    Time from{}, to{};
  };

  explicit Rollup(PgOptions options) : options_(std::move(options)) {}

  // RollupLevel up what comes next, at most a day of it in one transaction: false = nothing is left to be done. Twice does no harm, nor do
  // two controllers at once. unavailable: the database is away.
  Result<bool> next();

  // RollupLevel up once more what lies between, in days; both ends are widened to whole hours.
  Status again(Time from, Time to);

  Result<std::optional<Range>> range();

  // Whether the role that reads sites' views exists: a database user who may not create roles has none.
  Result<bool> has_reader();

 private:
  Result<PgRows> query(const char* sql, const PgParams& params = {});

  PgOptions options_;
  std::optional<PgConnection> connection_;
};

}  // namespace ares::store
