// PgPool: a few read-only connections for questions, made when first needed and kept; a broken one is replaced. Where the options name a
// read replica they lead there, and to the database itself while it is away.
// Any thread may ask; at most as many ask at once as there are connections, the others wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

class PgPool {
 public:
  using Statement = std::pair<std::string, PgParams>;

  PgPool(PgOptions options, std::size_t connections);

  // unavailable: the database is away. resource_exhausted: the question takes longer than a minute.
  Result<PgRows> query(const std::string& sql, const PgParams& params = {});

  // A question, and one that is made of its answer, whose answer is given; both to the same server.
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
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t left_;
  std::vector<PooledConnection> idle_;
  std::chrono::steady_clock::time_point retry_replica_at_{};  // not before
  std::string last_warning_;                                  // why the replica is away
};

}  // namespace ares::store
