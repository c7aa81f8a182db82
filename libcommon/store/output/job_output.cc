#include "store/output/job_output.h"

#include <utility>

#include "store/pg/pg_pool.h"
#include "store/pg/pg_task.h"

namespace ares::store {
namespace {

constexpr const char* kAppend =
    "SELECT known, has_ended FROM output_append($1::bigint, $2::bigint, $3::bigint, $4::bigint, "
    "$5::bigint, $6::bigint, $7::bytea, $8::bigint <> 0, $9::bigint)";

constexpr const char* kHead =
    "SELECT attempt, uid, size, ended::integer FROM job_output WHERE job_id = $1::bigint AND "
    "task = $2::bigint AND rank = $3::bigint AND ($4::bigint = 0 OR attempt = $4::bigint) "
    "ORDER BY attempt DESC LIMIT 1";

// The part with the byte at `offset`, or the first one behind it, and those that follow without a gap.
constexpr const char* kParts =
    "SELECT at, data FROM job_output_part WHERE job_id = $1::bigint AND task = $2::bigint AND "
    "attempt = $3::bigint AND rank = $4::bigint AND at >= coalesce((SELECT max(at) FROM "
    "job_output_part WHERE job_id = $1::bigint AND task = $2::bigint AND attempt = $3::bigint AND "
    "rank = $4::bigint AND at <= $5::bigint), 0) AND at + length(data) > $5::bigint "
    "ORDER BY at LIMIT 4";

}  // namespace

Result<OutputWriter::Stored> OutputWriter::append(const OutputKey& key, UserId owner,
                                                  std::uint64_t offset, std::string_view data,
                                                  bool ended, Bytes most) {
  PgParams params;
  params.bigint(key.job.job.value()).bigint(task_column(key.job.task));
  params.bigint(std::int64_t{key.attempt.value()}).bigint(std::int64_t{key.rank});
  params.bigint(std::int64_t{owner.value()}).bigint(offset).bytes(std::string(data));
  params.bigint(std::int64_t{ended}).bigint(most.value());
  const auto rows = connection_.query(kAppend, params);
  if (!rows) return fail(rows.error());
  return Stored{static_cast<std::uint64_t>(rows->bigint(0, 0)), rows->bytes(0, 1)[0] != 0};
}

OutputReader::OutputReader(PgOptions options, std::size_t connections)
    : pool_(std::make_unique<PgPool>(std::move(options), connections)) {}
OutputReader::~OutputReader() = default;

Result<OutputReader::Piece> OutputReader::read(JobKey job, AttemptNo attempt, std::uint32_t rank,
                                               std::uint64_t offset) {
  PgParams params;
  params.bigint(job.job.value()).bigint(task_column(job.task)).bigint(std::int64_t{rank});
  params.bigint(std::int64_t{attempt.value()});
  const auto head = pool_->query(kHead, params);
  if (!head) return fail(head.error());
  if (head->size() == 0) return fail(ErrorCode::not_found, "no output is stored");
  Piece piece{.of = {job, AttemptNo(static_cast<std::uint32_t>(head->bigint(0, 0))), rank},
              .owner = UserId(static_cast<std::uint32_t>(head->bigint(0, 1))),
              .offset = offset,
              .data = {},
              .size = static_cast<std::uint64_t>(head->bigint(0, 2)),
              .ended = head->bigint(0, 3) != 0};
  PgParams at;
  at.bigint(job.job.value()).bigint(task_column(job.task));
  at.bigint(std::int64_t{piece.of.attempt.value()}).bigint(std::int64_t{rank}).bigint(offset);
  const auto parts = pool_->query(kParts, at);
  if (!parts) return fail(parts.error());
  for (int row = 0; row < parts->size(); ++row) {
    const auto begin = static_cast<std::uint64_t>(parts->bigint(row, 0));
    std::string_view data = parts->bytes(row, 1);
    if (piece.data.empty()) {
      if (begin < offset) data.remove_prefix(offset - begin);
      piece.offset = std::max(begin, offset);
    } else if (begin != piece.offset + piece.data.size()) {
      break;
    }
    piece.data += data;
  }
  return piece;
}

}  // namespace ares::store
