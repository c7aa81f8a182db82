// Reports: sums over a period, of the cluster's capacity and of what was held by accounts, users and QOS. Uses the sums by month, day
// and hour where they exist and the records for the rest, so results are current and do not depend on how much is summed up.
// Any thread may query; see PgPool.
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

// An empty list is no condition. Unknown names are not an error: they match nothing.
struct ReportFilter {
  api::Report::Kind kind = api::Report::UTILIZATION;
  Time start{}, end{};  // whole seconds; `end` is exclusive
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
// Columns that a kind of report does not use are constants.
ReportStatement report_statement(const ReportFilter& filter, const std::vector<TimeSlice>& slices);

class Reports {
 public:
  explicit Reports(PgOptions options, std::size_t connections = 2);
  ~Reports();

  // Rows ascending. unavailable: no database. resource_exhausted: the query exceeds a minute.
  Result<google::protobuf::RepeatedPtrField<api::Reported::Row>> query(const ReportFilter& filter);

 private:
  std::unique_ptr<PgPool> pool_;
};

}  // namespace ares::store
