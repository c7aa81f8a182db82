// Usage reckoned again from the records of attempts, and what is kept otherwise set right: aacctmgr rebuild-usage.
// Used by the query pool's threads, which wait for the database so that nobody else does; what is set right goes to the engine as a
// command like any other.
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

  // Calls back on this thread, or on the engine's once what was set right is durable. permission_denied; unavailable while the database is
  // away or another is under way; failed_precondition where records are missing.
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
