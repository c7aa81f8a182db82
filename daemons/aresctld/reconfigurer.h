// Reconfigurer: reads ares.yaml again while the controller runs: checked first, then applied whole or not at all.
// Called on threads that may wait for a disk and the name service (the query pool, the main thread for SIGHUP); one at a time.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aresctld/config_holder.h"
#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/view.h"
#include "aresctld/plugins/scheduler_plugins.h"
#include "config/diff.h"
#include "model/engine/request.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// What a configuration is to the engine.
ApplyConfig to_command(const config::Config& config);

class Reconfigurer {
 public:
  // What came of it, or why nothing did: the file (with file, line and a suggestion), a change that is refused, the engine.
  using Done = std::function<void(Result<api::Reconfigured>)>;

  // `plugins`: loads those of the scheduler; null where there are none.
  Reconfigurer(ConfigHolder& config_holder, EngineLoop& engine, ViewHolder& views,
               SchedulerPlugins* plugins = nullptr)
      : config_holder_(config_holder), engine_(engine), views_(views), plugins_(plugins) {}

  // What the file, or `text` in its place, would change.
  Result<api::Reconfigured> preview(const api::Reconfigure& request) const;

  // `done` is called on the engine thread once the new configuration is durable and in force, else on the caller's. A request
  // that was carried out before changes nothing; failed_precondition if the file has changed since.
  void apply(Principal caller, std::string request_id, const Digest& digest, Done done);

 private:
  struct Evaluation {
    std::shared_ptr<const config::Config> next;  // in force afterwards
    std::vector<config::Change> changes;
  };
  // `load`: the plugins too, which runs code of theirs.
  Result<Evaluation> evaluate(Result<config::Config> read, bool load) const;
  Result<api::Reconfigured> repeat_answer(const Evaluation& evaluation,
                                          const std::string& path) const;

  ConfigHolder& config_holder_;
  EngineLoop& engine_;
  ViewHolder& views_;
  SchedulerPlugins* const plugins_;
  std::mutex mutex_;
  bool busy_ = false;
};

}  // namespace ares::aresctld
