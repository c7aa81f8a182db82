// PgPool: a few read-only connections for questions, made when first needed and kept; a broken one is replaced.
// Any thread may ask; at most as many ask at once as there are connections, the others wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/pg_connection.h"

namespace ares::store {

class PgPool {
 public:
  PgPool(PgOptions options, std::size_t connections);

  // unavailable: the database is away. resource_exhausted: the question takes longer than a minute.
  Result<PgRows> query(const std::string& sql, const PgParams& params = {});

 private:
  struct Lease;

  const PgOptions options_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t left_;
  std::vector<PgConnection> idle_;
};

}  // namespace ares::store
