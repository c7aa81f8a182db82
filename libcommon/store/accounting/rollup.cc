#include "store/accounting/rollup.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ares::store {
namespace {

bool flag(const PgRows& rows) {
  return rows.size() == 1 && !rows.null(0, 0) && rows.bytes(0, 0)[0] != 0;
}

}  // namespace

Result<bool> Rollup::next() {
  auto rows = connection_.query("SELECT rollup_next('1 day')");
  if (!rows) return fail(rows.error());
  return flag(*rows);
}

Status Rollup::again(Time from, Time to) {
  from = std::chrono::floor<std::chrono::hours>(from);
  to = std::chrono::ceil<std::chrono::hours>(to);
  // Limit the range to existing sums, so that no empty years are scanned.
  auto known = range();
  if (!known) return fail(known.error());
  if (!*known) return {};
  auto begin = connection_.query("SELECT least(rollup_begin(), from_hour) FROM rollup");
  if (!begin) return fail(begin.error());
  from = std::max(from, begin->maybe_time(0, 0).value_or(from));
  to = std::min(to, (*known)->to);
  while (from < to) {
    const Time end =
        std::min(to, Time(std::chrono::floor<std::chrono::days>(from)) + std::chrono::days(1));
    PgParams params;
    params.timestamp(from).timestamp(end);
    auto done = connection_.query("SELECT rollup_again($1::timestamptz, $2::timestamptz)", params);
    if (!done) return fail(done.error());
    from = end;
  }
  return {};
}

Result<std::optional<Rollup::Range>> Rollup::range() {
  auto rows = connection_.query("SELECT from_hour, to_hour FROM rollup");
  if (!rows) return fail(rows.error());
  if (rows->size() != 1 || rows->null(0, 0) || rows->null(0, 1)) return std::optional<Range>();
  return std::optional(Range{rows->time(0, 0), rows->time(0, 1)});
}

Result<bool> Rollup::has_reader() {
  auto rows = connection_.query("SELECT to_regrole('ares_reader') IS NOT NULL");
  if (!rows) return fail(rows.error());
  return flag(*rows);
}

}  // namespace ares::store
