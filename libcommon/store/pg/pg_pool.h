// PgPool: a few read-only connections for queries, opened on demand and kept; broken ones are replaced. If the options name a
// read replica it is used, and the primary while the replica is unreachable.
// Any thread may query; queries beyond the number of connections wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

class PgPool {
 public:
  using Statement = std::pair<std::string, PgParams>;

  PgPool(PgOptions options, std::size_t connections);

  // unavailable: the database is unreachable. resource_exhausted: the query exceeds a minute.
  Result<PgRows> query(const std::string& sql, const PgParams& params = {});

  // Runs a query and a second one made from its result, on the same server; returns the latter's result.
  Result<PgRows> query_twice(const std::string& sql,
                             const std::function<Statement(const PgRows&)>& second);

 private:
  struct PooledConnection {
    PgConnection connection;
    bool of_replica = false;
  };
  struct Lease;

  Result<PgRows> run(const std::function<Result<PgRows>(Lease&)>& question);
  Result<PgConnection> connect_replica() const;
  bool replica_is_due();
  void replica_is_back();
  void replica_is_away(const Error& why);

  const PgOptions options_;
  Mutex mutex_;
  Condition freed_;
  std::size_t left_ ARES_GUARDED_BY(mutex_);
  std::vector<PooledConnection> idle_ ARES_GUARDED_BY(mutex_);
  // No attempt before this time.
  std::chrono::steady_clock::time_point retry_replica_at_ ARES_GUARDED_BY(mutex_);
  std::string last_warning_ ARES_GUARDED_BY(mutex_);  // why the replica is unreachable
};

}  // namespace ares::store
