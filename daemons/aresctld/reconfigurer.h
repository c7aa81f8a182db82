// Reconfigurer: rereads ares.yaml at run time: checks it, then applies all changes or none.
// Called on threads that may block (query pool; main thread for SIGHUP), one call at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aresctld/config_holder.h"
#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/view.h"
#include "aresctld/plugins/scheduler_plugins.h"
#include "base/mutex.h"
#include "config/diff.h"
#include "model/engine/request.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// The parts of a configuration that the engine needs.
ApplyConfig to_command(const config::Config& config);

class Reconfigurer {
 public:
  // The changes, or an error: in the file (file, line, suggestion), a refused change, the engine's.
  using Done = std::function<void(Result<api::Reconfigured>)>;

  // `plugins` loads the scheduler's plugins; null if there are none.
  Reconfigurer(ConfigHolder& config_holder, EngineLoop& engine, ViewHolder& views,
               SchedulerPlugins* plugins = nullptr)
      : config_holder_(config_holder), engine_(engine), views_(views), plugins_(plugins) {}

  // The changes that the file, or the request's `text`, would make.
  Result<api::Reconfigured> preview(const api::Reconfigure& request) const;

  // `done` is called on the engine thread once the change is durable and in force, else on this one. A
  // repeated request changes nothing; failed_precondition if the file has changed since.
  void apply(Principal caller, std::string request_id, const Digest& digest, Done done);

 private:
  struct Evaluation {
    std::shared_ptr<const config::Config> next;  // in force afterwards
    std::vector<config::Change> changes;
  };
  // `load`: also load plugins, which runs their code.
  Result<Evaluation> evaluate(Result<config::Config> read, bool load) const;
  Result<api::Reconfigured> repeat_answer(const Evaluation& evaluation,
                                          const std::string& path) const;

  ConfigHolder& config_holder_;
  EngineLoop& engine_;
  ViewHolder& views_;
  SchedulerPlugins* const plugins_;
  Mutex mutex_;
  bool busy_ ARES_GUARDED_BY(mutex_) = false;
};

}  // namespace ares::aresctld
