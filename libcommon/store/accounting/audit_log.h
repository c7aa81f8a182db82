// AuditLog: who changed what and when, as the table `audit` has it.
// Any thread may ask; see PgPool.
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

// Empty lists are no condition.
struct AuditFilter {
  std::optional<Time> start, end;  // `end` is not included
  std::vector<std::string> users;
  std::vector<std::string> actions;  // empty: all but those about jobs, of which there are many
  bool all_actions = false;
  std::uint64_t after = 0;  // number of the row behind which to go on
};

class AuditLog {
 public:
  explicit AuditLog(PgOptions options, std::size_t connections = 2);
  ~AuditLog();

  // A page, in the order of their numbers. unavailable: the database is away.
  Result<api::Transactions> query(const AuditFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
