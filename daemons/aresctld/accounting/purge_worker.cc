#include "aresctld/accounting/purge_worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

namespace ares::aresctld {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr Duration kAfterTheStart = 10s;  // commands and nodes come first
constexpr Duration kInterval = 24h, kRetry = 10min;
constexpr Duration kPoll = 5s;  // for a changed retention
constexpr Duration kPause = 20ms;
// Attempts while a commit or a reader holds what a piece needs.
constexpr int kMaxTries = 50;
constexpr Duration kBusyPause = 200ms;

}  // namespace

PurgeWorker::~PurgeWorker() {
  stop();
}

void PurgeWorker::start() {
  thread_ = std::thread([this] { run(); });
}

void PurgeWorker::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool PurgeWorker::sleep_for(Duration time) {
  Lock lock(mutex_);
  wake_.wait_for(lock, time, [this]() ARES_REQUIRES(mutex_) { return stopping_; });
  return !stopping_;
}

// A pause as long as the piece, at least: half of the server's time is left to others.
Status PurgeWorker::purge_all(const char* what, const NextPiece& next) {
  std::uint64_t removed = 0;
  const auto log = [&] {
    if (removed > 0) spdlog::info("removed {} {} from the database", removed, what);
  };
  for (int tries = 0;;) {
    const auto begun = Steady::now();
    const auto piece = next(epoch_());
    const auto took = std::chrono::duration_cast<Duration>(Steady::now() - begun);
    if (piece) {
      tries = 0;
      removed += piece->removed;
      if (piece->more && sleep_for(std::max(kPause, took))) continue;
      log();
      return {};
    }
    if (piece.error().code == ErrorCode::unavailable && ++tries < kMaxTries &&
        sleep_for(kBusyPause))
      continue;
    log();
    return fail(piece.error());
  }
}

Status PurgeWorker::run_all(store::Purge& purge, const config::RetentionConfig& retention) {
  const Time now = clock_.now();
  const auto made = purge.make_partitions(now);
  if (!made) return fail(made.error());
  // One that cannot be purged for now does not keep the others from it.
  Status done;
  const auto keep_first = [&](Status status) {
    if (done) done = std::move(status);
  };
  if (!*made)
    keep_first(fail(ErrorCode::unavailable,
                    "partitions for the coming days are not made: a reader of the tables is in the "
                    "way, such as pg_dump"));
  if (retention.journal > Seconds(0))
    keep_first(purge_all("days of the journal", [&](Epoch epoch) {
      return purge.journal(epoch, now - retention.journal);
    }));
  if (retention.audit > Seconds(0))
    keep_first(purge_all("entries of the audit log",
                         [&](Epoch epoch) { return purge.audit(epoch, now - retention.audit); }));
  if (retention.node_events > Seconds(0))
    keep_first(purge_all("events of nodes", [&](Epoch epoch) {
      return purge.node_events(epoch, now - retention.node_events);
    }));
  if (retention.job_output > Seconds(0))
    keep_first(purge_all("outputs of jobs", [&](Epoch epoch) {
      return purge.job_output(epoch, now - retention.job_output);
    }));
  keep_first(purge_all("unused scripts and environments",
                       [&](Epoch epoch) { return purge.blobs(epoch); }));
  return done;
}

void PurgeWorker::run() {
  store::Purge purge(options_);
  config::RetentionConfig applied = config_.read()->retention;
  std::string last_warning;
  auto due = Steady::now() + kAfterTheStart;
  while (sleep_for(
      std::clamp(std::chrono::duration_cast<Duration>(due - Steady::now()), Duration(0), kPoll))) {
    const config::RetentionConfig retention = config_.read()->retention;
    if (Steady::now() < due && retention == applied) continue;
    applied = retention;
    const Status done = run_all(purge, retention);
    if (!done && done.error().message != last_warning)
      spdlog::warn("old records stay in the database for now: {}", done.error().message);
    last_warning = done ? "" : done.error().message;
    due = Steady::now() + (done ? kInterval : kRetry);
  }
}

}  // namespace ares::aresctld
