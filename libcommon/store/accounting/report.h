// Reports: sums over a time, of what the cluster had and of who held how much of it. From the sums by month, day and hour as far as
// they reach, and from the records for the rest, so that an answer is always of now and the same as if nothing were summed up.
// Any thread may ask; see PgPool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/report_slices.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store {

class PgPool;

// Empty lists are no condition. Names that nobody has are no error: there is nothing of them.
struct ReportFilter {
  api::Report::Kind kind = api::Report::UTILIZATION;
  Time start{}, end{};  // whole seconds; `end` is not included
  std::vector<std::string> accounts, users, qos, wckeys, tres, reservations;
  bool by_account = false, by_user = false, by_qos = false, by_wckey = false;
  std::vector<std::uint64_t> sizes;  // ascending
};

struct ReportStatement {
  std::string sql;
  PgParams params;
};

// Columns: account, user, qos, tres, reservation, size, allocated, down, drained, reserved, idle, over, jobs, start, end, nodes, used,
// wckey.
// Where a kind of report has nothing to say they are constants.
ReportStatement report_statement(const ReportFilter& filter, const std::vector<TimeSlice>& slices);

class Reports {
 public:
  explicit Reports(PgOptions options, std::size_t connections = 2);
  ~Reports();

  // Rows ascending. unavailable: the database is away. resource_exhausted: it takes longer than a minute.
  Result<google::protobuf::RepeatedPtrField<api::Reported::Row>> query(const ReportFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
