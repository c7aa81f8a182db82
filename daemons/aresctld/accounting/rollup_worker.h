// RollupWorker: aggregates accounting by hour, day and month soon after each hour, on its own
// thread.
// Reports over long periods read these sums. Reports do not wait for it: they read what is not yet
// aggregated from the records.
// The controller calls start() and stop(); the query pool's threads call on_demand().
#pragma once

#include <thread>

#include "aresctld/engine/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/rollup.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class RollupWorker {
 public:
  RollupWorker(store::PgOptions options, Clock& clock)
      : options_(std::move(options)), clock_(clock) {}
  ~RollupWorker();
  RollupWorker(const RollupWorker&) = delete;
  RollupWorker& operator=(const RollupWorker&) = delete;

  void start();
  // Waits for the running aggregation step, which covers at most one day.
  void stop();

  // Aggregates for a limited time what is missing, or repeats the period that the request names, or
  // does nothing; then returns how far the sums reach. Callers repeat the request until that no
  // longer changes. unavailable: the database is unreachable.
  Result<api::RolledUp> on_demand(const api::Rollup& request);

 private:
  void run();
  bool sleep_for(Duration time);  // false: stop() was called
  bool roll_up_all(store::Rollup& rollup);

  const store::PgOptions options_;
  Clock& clock_;
  Mutex mutex_;
  Condition wake_;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::string last_warning_;
  std::thread thread_;
};

}  // namespace ares::aresctld
