// Accounting: questions about attempts, running and past, answered from the database over read-only
// connections of its own, so that no report ever waits for the journal or holds it up.
// Any thread may ask; at most as many ask at once as there are connections, the others wait.
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

// How many rows one answer holds at most.
std::uint32_t accounting_page(const AccountingFilter& filter);

class Accounting {
 public:
  explicit Accounting(PgOptions options, std::size_t connections = 2);
  ~Accounting();

  // Rows ascend by (job, task, attempt), what has no task before the tasks. Keys and attempts are
  // always filled in. A page never splits the attempts of a job, so it may be a little longer than
  // asked for; `last` is set where there may be `more`.
  // unavailable: the database is away. resource_exhausted: the question takes longer than a minute.
  Result<api::AccountingRows> query(const AccountingFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

// Where a key stands in the order of rows: an array's own record comes before its tasks.
bool row_before(const JobKey& a, const JobKey& b);

}  // namespace ares::store
