// Rollup: sums accounting by hour, day and month (sql/views/020_rollup.sql). Its own connection
// blocks neither the journal nor reports.
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
  // The period that has sums, whole hours.
  struct Range {
    Time from{}, to{};
  };

  explicit Rollup(PgOptions options) : connection_(std::move(options), PgConnection::Use::rollup) {}

  // Sums up the next part, at most one day in one transaction. False = nothing left. It may be
  // repeated, and two controllers may do it at once. unavailable: the database is unreachable.
  Result<bool> next();

  // Recomputes the sums from `from` to `to`, widened to whole hours; one transaction for each day.
  Status again(Time from, Time to);

  Result<std::optional<Range>> range();

  // Whether the role for the sites' views exists; not every database user may create it.
  Result<bool> has_reader();

 private:
  PgLazyConnection connection_;
};

}  // namespace ares::store
