// Recomputes usage from the records of attempts and corrects the stored usage where it differs:
// aacctmgr rebuild-usage.
// Used by the query pool's threads: only they wait for the database. Corrections go to the engine
// as an ordinary command.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "aresctld/engine/clock.h"
#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/view.h"
#include "base/result.h"
#include "model/engine/request.h"
#include "model/policy/policy.h"
#include "proto/gen/api.pb.h"
#include "store/pg/pg_options.h"

namespace ares::aresctld {

class UsageRebuilder {
 public:
  using OnDone = std::function<void(Result<api::UsageRebuilt>)>;

  UsageRebuilder(store::PgOptions database, const ViewHolder& views, EngineLoop& engine,
                 Clock& clock)
      : database_(std::move(database)), views_(views), engine_(engine), clock_(clock) {}

  // Calls back on this thread, or on the engine thread once the corrections are durable.
  // unavailable while the database is unreachable or another rebuild runs;
  // failed_precondition if records are missing.
  void rebuild(const Principal& caller, const Policy& policy, const api::Request& request,
               const OnDone& done);

 private:
  store::PgOptions database_;
  const ViewHolder& views_;
  EngineLoop& engine_;
  Clock& clock_;
  std::atomic<bool> busy_{false};
};

}  // namespace ares::aresctld
