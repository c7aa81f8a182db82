#include "store/accounting/node_log.h"

#include <algorithm>
#include <utility>

#include "store/pg/pg_pool.h"

namespace ares::store {
namespace {

constexpr int kPage = 1'000;

constexpr const char* kSql =
    "SELECT id, at, name, what, coalesce(uid, -1), detail FROM node_event "
    "WHERE (cardinality($1::text[]) = 0 OR name = ANY($1::text[])) "
    "AND at >= $2::timestamptz AND at < $3::timestamptz "
    "AND ($4::bigint = 0 OR id < $4::bigint) ORDER BY id DESC LIMIT $5::bigint";

void fill(const PgRows& rows, int at, api::NodeEvents::Event& event) {
  event.set_id(static_cast<std::uint64_t>(rows.bigint(at, 0)));
  event.set_at(rows.time(at, 1).time_since_epoch().count());
  event.set_node(rows.text(at, 2));
  event.set_what(rows.text(at, 3));
  if (rows.bigint(at, 4) >= 0) event.set_uid(static_cast<std::uint32_t>(rows.bigint(at, 4)));
  event.set_detail(rows.text(at, 5));
}

}  // namespace

NodeLog::NodeLog(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<PgPool>(std::move(options), connections)) {}
NodeLog::~NodeLog() = default;

Result<api::NodeEvents> NodeLog::query(const NodeLogFilter& filter) {
  const Time far{std::chrono::sys_days(std::chrono::year(9999) / 1 / 1)};
  ArrayParam nodes(ArrayParam::Element::text);
  for (const std::string& name : filter.nodes) nodes.add(std::string_view(name));
  const int most = filter.limit == 0 ? kPage : std::min<int>(kPage, static_cast<int>(filter.limit));
  PgParams params;
  params.array(std::move(nodes)).timestamp(filter.start.value_or(Time{}));
  params.timestamp(filter.end.value_or(far)).bigint(filter.before).bigint(std::int64_t{most});
  auto rows = pool_->query(kSql, params);
  if (!rows) return fail(rows.error());
  api::NodeEvents out;
  for (int at = 0; at < rows->size(); ++at) fill(*rows, at, *out.add_events());
  out.set_more(rows->size() >= most);
  return out;
}

}  // namespace ares::store
