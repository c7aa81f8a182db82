// SchedulerPlugins: loads the scheduler plugins of the configuration, except those that are disabled because they crashed or hung
// according to the guard's file. A plugin is enabled again, at the next start or reconfiguration, after its file was replaced or
// touched. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "proto/gen/api.pb.h"
#include "sched/adapter/plugin_set.h"

namespace ares::aresctld {

// A line of the guard's file.
struct SetAside {
  std::string mark;   // name and identity of the file
  std::string cause;  // "SIGSEGV", "hang"
  Time at{};
};

class SchedulerPlugins {
 public:
  // `record`: the guard's file; empty: no plugin is disabled, for checks of a configuration.
  explicit SchedulerPlugins(std::string record) : record_(std::move(record)) {}

  // Returns the same set as before if nothing has changed. An error begins with FILE:LINE of the refused plugin. Logs which plugins
  // are disabled and which are loaded.
  Result<SharedPlugins> load(const config::Config& config);

  // Status of the plugins of a configuration with the result of load() in its policy.
  api::Plugins list(const config::Config& config) const;

 private:
  const std::string record_;
  mutable Mutex mutex_;
  // Created with the first plugin.
  std::shared_ptr<sched::CallGuard> guard_ ARES_GUARDED_BY(mutex_);
  std::vector<sched::PluginSource> loaded_ ARES_GUARDED_BY(mutex_);
  SharedPlugins set_ ARES_GUARDED_BY(mutex_);
  std::vector<SetAside> aside_ ARES_GUARDED_BY(mutex_);  // found when plugins were last loaded
};

// The disabled plugins in words: "plugin a is set aside: SIGSEGV at 2026-…"; empty: none.
std::string set_aside_text(const api::Plugins& plugins);

}  // namespace ares::aresctld
