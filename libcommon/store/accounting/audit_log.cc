#include "store/accounting/audit_log.h"

#include <utility>

#include "store/pg/pg_pool.h"

namespace ares::store {
namespace {

constexpr int kPage = 5'000;

// Actions of users and the scheduler on jobs, named in core/job/decide (decide.cc, decide_plan.cc).
constexpr const char* kAboutJobs[] = {"submit",  "cancel",     "signal",      "hold",
                                      "release", "requeue",    "requeuehold", "suspend",
                                      "resume",  "update job", "preempt"};

void add_texts(const std::vector<std::string>& texts, PgParams& params) {
  ArrayParam array(ArrayParam::Element::text);
  for (const std::string& text : texts) array.add(std::string_view(text));
  params.array(std::move(array));
}

constexpr const char* kSql =
    "SELECT id, at, uid, user_name, host, action, subject, outcome FROM audit "
    "WHERE id > $1::bigint AND at >= $2::timestamptz AND at < $3::timestamptz "
    "AND (cardinality($4::text[]) = 0 OR user_name = ANY($4::text[])) "
    "AND (cardinality($5::text[]) = 0 OR action = ANY($5::text[])) "
    "AND action <> ALL($6::text[]) ORDER BY id LIMIT $7::bigint";

void fill(const PgRows& rows, int at, api::Transactions::Row& row) {
  row.set_id(static_cast<std::uint64_t>(rows.bigint(at, 0)));
  row.set_at(rows.time(at, 1).time_since_epoch().count());
  row.set_uid(static_cast<std::uint32_t>(rows.bigint(at, 2)));
  row.set_user(rows.text(at, 3));
  row.set_host(rows.text(at, 4));
  row.set_action(rows.text(at, 5));
  row.set_subject(rows.text(at, 6));
  row.set_outcome(rows.text(at, 7));
}

}  // namespace

AuditLog::AuditLog(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<PgPool>(std::move(options), connections)) {}
AuditLog::~AuditLog() = default;

Result<api::Transactions> AuditLog::query(const AuditFilter& filter) {
  const Time far{std::chrono::sys_days(std::chrono::year(9999) / 1 / 1)};
  PgParams params;
  params.bigint(filter.after).timestamp(filter.start.value_or(Time{}));
  params.timestamp(filter.end.value_or(far));
  add_texts(filter.users, params);
  add_texts(filter.actions, params);
  const bool leave_out = filter.actions.empty() && !filter.all_actions;
  add_texts(leave_out ? std::vector<std::string>(std::begin(kAboutJobs), std::end(kAboutJobs))
                      : std::vector<std::string>(),
            params);
  params.bigint(std::int64_t{kPage});
  auto rows = pool_->query(kSql, params);
  if (!rows) return fail(rows.error());
  api::Transactions out;
  out.mutable_rows()->Reserve(rows->size());
  for (int at = 0; at < rows->size(); ++at) fill(*rows, at, *out.add_rows());
  out.set_more(rows->size() >= kPage);
  return out;
}

}  // namespace ares::store
