#include "store/accounting/usage_records.h"

#include <charconv>

#include "store/pg/load.h"
#include "store/pg/pg_connection.h"

namespace ares::store {
namespace {

constexpr const char* kPast =
    "DECLARE past NO SCROLL CURSOR FOR SELECT account, allocated, coalesce(released, ended), "
    "suspended, CASE WHEN suspended_at IS NULL THEN NULL ELSE "
    "greatest(suspended_at, ended) END, suspended_at, held, array_to_string(charged_to, ',') "
    "FROM attempt_done WHERE allocated IS NOT NULL AND coalesce(released, ended) > "
    "$1::timestamptz AND charged_to IS NOT NULL";

// What prevents recomputing: attempts without charged_to, and months that exist only in files.
constexpr const char* kMissing =
    "SELECT (SELECT count(*) FROM attempt_done WHERE allocated IS NOT NULL AND charged_to IS NULL "
    "AND coalesce(released, ended) > $1::timestamptz), "
    "(SELECT max(ended) FROM archive_file WHERE loaded IS NULL AND ended > $1::timestamptz)";

std::string until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  std::string part(text.substr(0, at));
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

std::uint64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return static_cast<std::uint64_t>(value);
}

ChargedAttempt attempt_of(const PgRows& rows, int at) {
  ChargedAttempt attempt;
  attempt.account = rows.text(at, 0);
  attempt.allocated = rows.time(at, 1);
  attempt.released = rows.time(at, 2);
  attempt.suspended = Duration(rows.maybe_bigint(at, 3).value_or(0));
  if (const auto end = rows.maybe_time(at, 4)) attempt.suspended += *end - rows.time(at, 5);
  const std::string held = rows.text(at, 6), charged = rows.text(at, 7);
  for (std::string_view rest = held; !rest.empty();) {
    std::string one = until(rest, ',');
    const std::size_t equals = one.rfind('=');
    if (equals == std::string::npos) continue;
    attempt.held.push_back({one.substr(0, equals), number(one.substr(equals + 1))});
  }
  std::string_view rest = charged;
  const auto next = [&] { return number(until(rest, ',')); };
  ChargedTo& to = attempt.charged_to;
  to.association = AssociationId(next());
  to.qos = AssociationId(next());
  to.wckey = AssociationId(next());
  to.billing = next();
  to.still_billing = next();
  to.factor = static_cast<std::uint32_t>(next());
  // 0 in rows of releases that did not store these fields.
  to.partition_qos = AssociationId(next());
  to.account = AssociationId(next());
  return attempt;
}

Status check_whole(PgConnection& connection, Time horizon) {
  PgParams params;
  params.timestamp(horizon);
  auto rows = connection.query(kMissing, params);
  if (!rows) return fail(rows.error());
  if (rows->maybe_time(0, 1))
    return fail(ErrorCode::failed_precondition,
                "attempts that count are only in archive files: load them back with aacctmgr "
                "archive load, or set usage to nothing with aacctmgr reset usage");
  if (const auto unknown = rows->bigint(0, 0); unknown > 0)
    return fail(ErrorCode::failed_precondition,
                std::to_string(unknown) +
                    " attempts that count were begun by a release that did not record whose usage "
                    "they are; usage can be recomputed once they have decayed, or after aacctmgr "
                    "reset usage");
  return {};
}

Status each_attempt(PgConnection& connection, Time horizon,
                    const std::function<void(const ChargedAttempt&)>& each) {
  PgParams params;
  params.timestamp(horizon);
  if (auto declared = connection.query(kPast, params); !declared) return fail(declared.error());
  for (;;) {
    auto rows = connection.query("FETCH 5000 FROM past");
    if (!rows) return fail(rows.error());
    if (rows->size() == 0) return {};
    for (int at = 0; at < rows->size(); ++at) each(attempt_of(*rows, at));
  }
}

}  // namespace

Status UsageRecords::read(Time horizon, const std::function<void(const ClusterState&)>& kept,
                          const std::function<void(const ChargedAttempt&)>& each) {
  auto connection = PgConnection::connect(options_, PgConnection::Use::rollup);
  if (!connection) return fail(connection.error());
  if (auto begun = connection->query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); !begun)
    return fail(begun.error());
  auto state = load_accounts(*connection);
  if (!state) return fail(state.error());
  horizon = std::max(horizon, state->usage_since);
  if (Status whole = check_whole(*connection, horizon); !whole) return whole;
  kept(*state);
  if (Status read = each_attempt(*connection, horizon, each); !read) return read;
  if (auto ended = connection->query("COMMIT"); !ended) return fail(ended.error());
  return {};
}

}  // namespace ares::store
