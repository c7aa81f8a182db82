#include "store/accounting/report.h"

#include <utility>

#include "store/pg/pg_pool.h"

namespace ares::store {
namespace {

using Row = api::Reported::Row;

std::int64_t micros(const PgRows& rows, int row, int column) {
  const auto at = rows.maybe_time(row, column);
  return at ? at->time_since_epoch().count() : 0;
}

void fill(const PgRows& rows, int at, Row& row) {
  row.set_account(rows.text(at, 0));
  row.set_user(rows.text(at, 1));
  row.set_qos(rows.text(at, 2));
  row.set_tres(rows.text(at, 3));
  row.set_reservation(rows.text(at, 4));
  row.set_size(static_cast<std::uint32_t>(rows.bigint(at, 5)));
  row.set_allocated(rows.bigint(at, 6));
  row.set_down(rows.bigint(at, 7));
  row.set_drained(rows.bigint(at, 8));
  row.set_reserved(rows.bigint(at, 9));
  row.set_idle(rows.bigint(at, 10));
  row.set_over(rows.bigint(at, 11));
  row.set_jobs(static_cast<std::uint64_t>(rows.bigint(at, 12)));
  row.set_start(micros(rows, at, 13));
  row.set_end(micros(rows, at, 14));
  row.set_nodes(rows.text(at, 15));
  row.set_used(rows.bigint(at, 16));
  row.set_wckey(rows.text(at, 17));
}

}  // namespace

Reports::Reports(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<PgPool>(std::move(options), connections)) {}
Reports::~Reports() = default;

Result<google::protobuf::RepeatedPtrField<Row>> Reports::query(const ReportFilter& filter) {
  google::protobuf::RepeatedPtrField<Row> out;
  if (filter.start >= filter.end) return out;
  // `to_hour` only grows. If it grows between the queries, the records give the same result.
  auto rows = pool_->query_twice("SELECT to_hour FROM rollup", [&](const PgRows& known) {
    const auto up_to = known.size() == 1 ? known.maybe_time(0, 0) : std::nullopt;
    ReportStatement statement =
        report_statement(filter, slices_of(filter.start, filter.end, up_to));
    return PgPool::Statement(std::move(statement.sql), std::move(statement.params));
  });
  if (!rows) return fail(rows.error());
  out.Reserve(rows->size());
  for (int at = 0; at < rows->size(); ++at) fill(*rows, at, *out.Add());
  return out;
}

}  // namespace ares::store
