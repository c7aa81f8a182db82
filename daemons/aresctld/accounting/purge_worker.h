// PurgeWorker: keeps the database from growing without bound, on its own thread: removes events and
// entries of the audit log past their retention and scripts that no job needs any more, in pieces
// with pauses, and makes partitions ahead of need.
// The controller calls start() and stop().
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "aresctld/config_holder.h"
#include "aresctld/engine/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/pg/pg_options.h"
#include "store/pg/purge.h"

namespace ares::aresctld {

class PurgeWorker {
 public:
  // `epoch` returns the epoch of the last commit; any thread may call it.
  PurgeWorker(store::PgOptions options, const ConfigHolder& config, Clock& clock,
              std::function<Epoch()> epoch)
      : options_(std::move(options)), config_(config), clock_(clock), epoch_(std::move(epoch)) {}
  ~PurgeWorker();
  PurgeWorker(const PurgeWorker&) = delete;
  PurgeWorker& operator=(const PurgeWorker&) = delete;

  void start();
  // Waits for the running piece.
  void stop();

 private:
  using NextPiece = std::function<Result<store::Purge::Piece>(Epoch)>;

  void run();
  bool sleep_for(Duration time);  // false: stop() was called
  Status run_all(store::Purge& purge, const config::RetentionConfig& retention);
  Status purge_all(const char* what, const NextPiece& next);

  const store::PgOptions options_;
  const ConfigHolder& config_;
  Clock& clock_;
  const std::function<Epoch()> epoch_;
  Mutex mutex_;
  Condition wake_;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ares::aresctld
