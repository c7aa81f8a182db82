// Archiver: moves old accounting rows to files, one month at a time, on its own thread, and loads
// files back on request.
// The controller calls start() and stop(); the query pool's threads call on_demand().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "aresctld/config_holder.h"
#include "aresctld/engine/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "store/accounting/archive.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class Archiver {
 public:
  Archiver(store::PgOptions options, const ConfigHolder& config, Clock& clock)
      : options_(std::move(options)), config_(config), clock_(clock) {}
  ~Archiver();
  Archiver(const Archiver&) = delete;
  Archiver& operator=(const Archiver&) = delete;

  void start();
  // Interrupts a dump or load; the next run continues it.
  void stop();

  // Starts the requested operation, or reports its progress. unavailable: another one is running.
  Result<api::Archived> on_demand(const api::Archive& request);

 private:
  // What a dump has done so far.
  struct DumpResult {
    std::uint64_t rows = 0;
    std::vector<std::string> files;
  };

  void run();
  bool sleep_for(Duration time);  // false: stop() was called
  bool stopping();
  void serve(const api::Archive& request);
  Result<std::string> dump(Time before, bool with_loaded);
  Status dump_month(store::Archive& archive, const std::string& system, Time month,
                    DumpResult& result);
  Result<std::string> write(store::Archive& archive, const std::string& system, Time month,
                            store::ArchiveSum& sum);
  Result<std::string> load(const std::string& path);
  Status begin(const api::Archive& request);
  void await_progress();
  void set_progress(std::string text, bool failed);

  const store::PgOptions options_;
  const ConfigHolder& config_;
  Clock& clock_;
  Mutex mutex_;
  Condition wake_;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::optional<api::Archive> request_ ARES_GUARDED_BY(mutex_);  // the pending or running request
  std::uint64_t work_ ARES_GUARDED_BY(mutex_) = 0;
  std::string text_ ARES_GUARDED_BY(mutex_);
  bool failed_ ARES_GUARDED_BY(mutex_) = false;
  std::string last_warning_;
  std::thread thread_;
};

}  // namespace ares::aresctld
