// RollupWorker: sums accounting up by hour, day and month soon after each hour, on a thread of its own, so that reports over long times are
// read from the sums. Reports do not wait for it: what is not summed up they read from the records.
// start() and stop() by the controller; on_demand() by the query pool's threads.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "aresctld/engine/clock.h"
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
  // Waits for the sum that is being made, at most a day's.
  void stop();

  // Sums up for a while what is not yet, or once more what the request names, or nothing; then tells how far the sums reach. Callers
  // ask again until that does not change. unavailable: the database is away.
  Result<api::RolledUp> on_demand(const api::Rollup& request);

 private:
  void run();
  bool sleep_for(Duration time);  // false: stopping
  bool roll_up_all(store::Rollup& rollup);

  const store::PgOptions options_;
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::string last_warning_;
  std::thread thread_;
};

}  // namespace ares::aresctld
