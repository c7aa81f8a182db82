// Accounting: queries on attempts, running and finished. Uses separate read-only connections to the
// database, so that reports and the journal never wait for each other.
// Any thread may query; queries beyond the number of connections wait.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/accounting_filter.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgPool;

// Maximum number of rows in one answer.
std::uint32_t accounting_page(const AccountingFilter& filter);

class Accounting {
 public:
  explicit Accounting(PgOptions options, std::size_t connections = 2);
  ~Accounting();

  // Rows ascend by (job, task, attempt); rows without a task come first. Keys and attempts are
  // always filled in. A page contains all attempts of a job or none, so it may be a little longer
  // than requested; if `more` is set, `last` is set as well.
  // unavailable: the database is unreachable. resource_exhausted: the query exceeds a minute.
  Result<api::AccountingRows> query(const AccountingFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

// The order of rows: an array's own record comes before its tasks.
bool row_before(const JobKey& a, const JobKey& b);

}  // namespace ares::store
