#include "store/pg/pg_journal.h"

#include <optional>
#include <utility>

#include "base/mutex.h"
#include "store/pg/catalogue.h"
#include "store/pg/load.h"
#include "store/pg/migrations.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_rows.h"
#include "store/pg/pg_takeover.h"

namespace ares::store {
namespace {

using Days = std::chrono::sys_days;

// Purge makes more of them, so that this journal usually finds them made.
constexpr std::int64_t kDaysAhead = 3;
constexpr std::int64_t kMonthsAhead = 2;
constexpr Seconds kPartitionRetry{60};

// For what the caller repeats by itself: space may become free on a full disk.
Error to_be_retried(Error error) {
  if (error.code == ErrorCode::resource_exhausted) error.code = ErrorCode::unavailable;
  return error;
}

}  // namespace

class PgJournal::Session {
 public:
  explicit Session(PgOptions options) : options_(std::move(options)), holder_(random_uuid()) {}

  Result<Opened> open() {
    connection_.reset();
    auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
    if (!connection) return fail(connection.error());
    if (auto good = check_server(*connection, options_); !good) return fail(good.error());
    if (auto done = migrate(*connection, migrations()); !done) return fail(done.error());
    if (auto done = load_views(*connection, views()); !done) return fail(done.error());
    auto mark = take_epoch(*connection, options_, holder_);
    if (!mark) return fail(mark.error());
    auto state = load_state(*connection);
    if (!state) return fail(state.error());
    if (state->epoch != mark->position.epoch)
      return fail(ErrorCode::stale, "another controller took over while this one was loading");
    catalogue_.remember(*state);
    stored_specs_.clear();
    state->jobs.for_each(
        [this](const JobKey& key, const Job& job) { stored_specs_[key] = job.spec; });
    return ready(std::move(*connection), *mark, std::move(*state));
  }

  Result<Opened> reopen() {
    connection_.reset();
    auto connection = PgConnection::connect(options_, PgConnection::Use::commit);
    if (!connection) return fail(connection.error());
    if (auto good = check_server(*connection, options_); !good) return fail(good.error());
    auto mark = retake_epoch(*connection, options_, holder_);
    if (!mark) return fail(mark.error());
    ClusterState state;
    state.epoch = mark->position.epoch;
    state.lsn = mark->position.lsn;
    return ready(std::move(*connection), *mark, std::move(state));
  }

  Result<CommitOutcome> commit(const Batch& batch) {
    if (auto sound = check(batch); !sound) return fail(sound.error());
    if (!connection_ || !connection_->idle()) return in_doubt("there is no connection");
    for (const auto& node : batch.nodes) catalogue_.remember(*node);
    for (const Tres& tres : batch.tres) catalogue_.remember(tres);
    make_partitions(batch.now);
    if (!connection_->idle()) return in_doubt("the connection broke");  // nothing has been written
    auto done = connection_->transaction(
        pg_steps(batch, epoch_, options_.cluster, catalogue_, stored_specs_));
    if (!done) {
      if (done.error().code != ErrorCode::resource_exhausted) connection_.reset();
      return fail(done.error());
    }
    if (!done->sure) {
      forget_specs(batch, stored_specs_);
      return in_doubt(done->why);
    }
    remember_specs(batch, stored_specs_);
    return CommitOutcome::committed;
  }

  Result<bool> contains(Lsn lsn) {
    if (!connection_) return fail(ErrorCode::unavailable, "database: not connected");
    PgParams params;
    params.bigint(lsn.value()).bigint(epoch_.value());
    auto rows = connection_->query(
        "SELECT lsn >= $1::bigint, epoch = $2::bigint, "
        "EXISTS (SELECT FROM journal WHERE journal.lsn = $1::bigint) FROM controller",
        params);
    if (!rows) return fail(rows.error());
    const auto flag = [&](int column) { return rows->bytes(0, column)[0] != 0; };
    if (!flag(1)) return fail(ErrorCode::stale, "another controller took over: this one must stop");
    if (flag(0) != flag(2))
      return fail(ErrorCode::data_loss,
                  "the journal and the table `controller` disagree on event " +
                      std::to_string(lsn.value()));
    return flag(0);
  }

  Result<std::shared_ptr<const std::string>> blob(const BlobId& id) {
    const Lock lock(blob_mutex_);
    if (Status ready = connect_for_blobs(); !ready) return fail(ready.error());
    PgParams params;
    params.bytes(std::string(id.begin(), id.end()));
    auto rows = blob_connection_->query("SELECT content FROM blob WHERE id = $1::bytea", params);
    if (!rows) return fail(rows.error());
    if (rows->size() == 0)
      return fail(ErrorCode::not_found, "the script or environment is not in the database");
    return std::make_shared<const std::string>(rows->text(0, 0));
  }

  Result<std::string> secret() {
    const Lock lock(blob_mutex_);
    if (Status ready = connect_for_blobs(); !ready) return fail(ready.error());
    auto rows = blob_connection_->query("SELECT value FROM cluster_secret", {});
    if (!rows) return fail(rows.error());
    if (rows->size() != 1)
      return fail(ErrorCode::data_loss, "the table cluster_secret has lost its row");
    return rows->text(0, 0);
  }

  const std::string& doubt() const { return doubt_; }

 private:
  Status connect_for_blobs() ARES_REQUIRES(blob_mutex_) {
    if (blob_connection_ && !blob_connection_->broken()) return {};
    blob_connection_.reset();
    auto connection = PgConnection::connect(options_, PgConnection::Use::report);
    if (!connection) return fail(connection.error());
    blob_connection_.emplace(std::move(*connection));
    return {};
  }

  Result<Opened> ready(PgConnection connection, const HighWaterMark& mark, ClusterState state) {
    if (auto known = connection.prepare(pg_statements()); !known) return fail(known.error());
    connection_.emplace(std::move(connection));
    epoch_ = mark.position.epoch;
    doubt_.clear();
    return Opened{epoch_, mark.system, std::move(state), holder_};
  }

  CommitOutcome in_doubt(std::string why) {
    doubt_ = std::move(why);
    connection_.reset();
    return CommitOutcome::doubt;
  }

  static Status check(const Batch& batch) {
    const auto count = batch.last.value() - batch.first.value() + 1;
    if (batch.events.empty() || count != batch.events.size() ||
        batch.events.front()->lsn != batch.first || batch.events.back()->lsn != batch.last)
      return fail(ErrorCode::internal, "a batch from event " + std::to_string(batch.first.value()) +
                                           " to " + std::to_string(batch.last.value()) + " with " +
                                           std::to_string(batch.events.size()) + " events");
    return {};
  }

  // Once a day, before a batch and in a commit of its own. It may fail: the default partitions take
  // what has none, and there are partitions for the days to come.
  void make_partitions(Time now) {
    const Days today = std::chrono::floor<std::chrono::days>(now);
    if (made_day_ && *made_day_ >= today) return;
    if (retry_at_ && now < *retry_at_) return;
    PgParams params;
    params.timestamp(now).bigint(kDaysAhead).bigint(kMonthsAhead);
    const auto made = connection_->query(
        "SELECT make_partitions($1::timestamptz, $2::bigint::integer, $3::bigint::integer)",
        params);
    retry_at_ = now + kPartitionRetry;
    if (made && made->bytes(0, 0)[0] != 0) made_day_ = today;
  }

  const PgOptions options_;
  const std::string holder_;
  std::optional<PgConnection> connection_;
  Epoch epoch_;
  Catalogue catalogue_;
  StoredSpecs stored_specs_;
  std::optional<Days> made_day_;  // of the last partitions made
  std::optional<Time> retry_at_;  // if they were not
  std::string doubt_;

  Mutex blob_mutex_;
  std::optional<PgConnection> blob_connection_ ARES_GUARDED_BY(blob_mutex_);
};

PgJournal::PgJournal(PgOptions options) : session_(std::make_unique<Session>(std::move(options))) {}
PgJournal::~PgJournal() = default;

Result<Opened> PgJournal::open() {
  return session_->open().map_error(to_be_retried);
}
Result<Opened> PgJournal::reopen() {
  return session_->reopen().map_error(to_be_retried);
}
Result<CommitOutcome> PgJournal::commit(const Batch& batch) {
  return session_->commit(batch);
}
Result<bool> PgJournal::contains(Lsn lsn) {
  return session_->contains(lsn).map_error(to_be_retried);
}
Result<std::shared_ptr<const std::string>> PgJournal::blob(const BlobId& id) {
  return session_->blob(id);
}
Result<std::string> PgJournal::secret() {
  return session_->secret();
}
const std::string& PgJournal::doubt() const {
  return session_->doubt();
}

}  // namespace ares::store
