// AuditLog: the table `audit`: users, their changes and the times.
// Any thread may query; see PgPool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgPool;

// An empty list is no condition.
struct AuditFilter {
  std::optional<Time> start, end;  // `end` is exclusive
  std::vector<std::string> users;
  std::vector<std::string> actions;  // empty: all except actions on jobs, which are numerous
  bool all_actions = false;
  std::uint64_t after = 0;  // number of the row to continue after
};

class AuditLog {
 public:
  explicit AuditLog(PgOptions options, std::size_t connections = 2);
  ~AuditLog();

  // One page, in the order of the row numbers. unavailable: the database is unreachable.
  Result<api::Transactions> query(const AuditFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
