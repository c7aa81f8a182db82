#include "store/pg/purge.h"

#include <algorithm>

namespace ares::store {
namespace {

constexpr std::int64_t kPiece = 1000;            // rows
constexpr std::int64_t kOutputs = 20;            // each of many rows
constexpr std::uint64_t kPieceBytes = 32 << 20;  // of blobs
constexpr std::int64_t kFoundAtOnce = 100'000;   // blobs, kept in memory by their ids
constexpr std::int64_t kDaysAhead = 7, kMonthsAhead = 3;
constexpr const char* kBlobAge = "interval '1 day'";

std::uint64_t count(const PgRows& rows, int column = 0) {
  return static_cast<std::uint64_t>(rows.bigint(0, column));
}

}  // namespace

Result<bool> Purge::make_partitions(Time now) {
  PgParams params;
  params.timestamp(now).bigint(kDaysAhead).bigint(kMonthsAhead);
  const auto made = connection_.query(
      "SELECT make_partitions($1::timestamptz, $2::bigint::integer, $3::bigint::integer)", params);
  if (!made) return fail(made.error());
  return made->bytes(0, 0)[0] != 0;
}

Status Purge::find_unused_blobs() {
  static const std::string sql =
      std::string(
          "SELECT b.id, octet_length(b.content)::bigint FROM blob b WHERE b.created < now() - ") +
      kBlobAge +
      " AND NOT EXISTS (SELECT FROM job j WHERE j.script = b.id)"
      " AND NOT EXISTS (SELECT FROM job j WHERE j.environment = b.id) LIMIT $1::bigint";
  PgParams params;
  params.bigint(kFoundAtOnce);
  const auto rows = connection_.query(sql.c_str(), params);
  if (!rows) return fail(rows.error());
  for (int row = 0; row < rows->size(); ++row)
    unused_.push_back({rows->text(row, 0), static_cast<std::uint64_t>(rows->bigint(row, 1))});
  all_found_ = rows->size() < kFoundAtOnce;
  return {};
}

Result<Purge::Piece> Purge::blobs(Epoch epoch) {
  if (unused_.empty()) {
    if (Status found = find_unused_blobs(); !found) return fail(found.error());
    if (unused_.empty()) return Piece{};
  }
  ArrayParam ids(ArrayParam::Element::bytea);
  std::uint64_t bytes = 0;
  std::size_t taken = 0;
  for (const UnusedBlob& blob : unused_) {
    bytes += blob.size;
    if (taken == kPiece || (taken > 0 && bytes > kPieceBytes)) break;
    ids.add(std::string_view(blob.id));
    ++taken;
  }
  static const std::string sql =
      std::string("SELECT purge_blobs($1::bigint, $2::bytea[], ") + kBlobAge + ")";
  PgParams params;
  params.bigint(epoch.value()).array(std::move(ids));
  const auto gone = connection_.query(sql.c_str(), params);
  if (!gone) return fail(gone.error());
  unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(taken));
  return Piece{count(*gone), !unused_.empty() || !all_found_};
}

Result<Purge::Piece> Purge::journal(Epoch epoch, Time before) {
  PgParams params;
  params.bigint(epoch.value()).timestamp(before).bigint(kPiece);
  const auto gone = connection_.query(
      "SELECT partitions, events FROM purge_journal($1::bigint, $2::timestamptz, "
      "$3::bigint::integer)",
      params);
  if (!gone) return fail(gone.error());
  const std::uint64_t partitions = count(*gone), events = count(*gone, 1);
  return Piece{partitions + events, partitions > 0 || events == kPiece};
}

Result<Purge::Piece> Purge::audit(Epoch epoch, Time before) {
  PgParams params;
  params.bigint(epoch.value()).timestamp(before).bigint(kPiece);
  const auto gone = connection_.query(
      "SELECT purge_audit($1::bigint, $2::timestamptz, $3::bigint::integer)", params);
  if (!gone) return fail(gone.error());
  return Piece{count(*gone), count(*gone) == kPiece};
}

Result<Purge::Piece> Purge::job_output(Epoch epoch, Time before) {
  PgParams params;
  params.bigint(epoch.value()).timestamp(before).bigint(kOutputs);
  const auto gone = connection_.query(
      "SELECT purge_job_output($1::bigint, $2::timestamptz, $3::bigint::integer)", params);
  if (!gone) return fail(gone.error());
  return Piece{count(*gone), count(*gone) == kOutputs};
}

Result<Purge::Piece> Purge::node_events(Epoch epoch, Time before) {
  PgParams params;
  params.bigint(epoch.value()).timestamp(before).bigint(kPiece);
  const auto gone = connection_.query(
      "SELECT purge_node_events($1::bigint, $2::timestamptz, $3::bigint::integer)", params);
  if (!gone) return fail(gone.error());
  return Piece{count(*gone), count(*gone) == kPiece};
}

}  // namespace ares::store
