// SchedulerPlugins: loads the plugins that the configuration names for the scheduler, without those that were set aside because they
// crashed or hung: the guard's file says which. A plugin is taken back once its file is another one than the one that did (replaced, or
// touched), at the next start or reconfiguration. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
  // `record`: the guard's file; empty: there is no guard and nothing is set aside, as when a configuration is only checked.
  explicit SchedulerPlugins(std::string record) : record_(std::move(record)) {}

  // The same set as before if nothing of it has changed. An error begins with FILE:LINE of the plugin that was refused. Logs what is
  // set aside, and what is loaded.
  Result<SharedPlugins> load(const config::Config& config);

  // How each plugin of a configuration, whose policy holds what load() gave, stands.
  api::Plugins list(const config::Config& config) const;

 private:
  const std::string record_;
  mutable std::mutex mutex_;
  std::shared_ptr<sched::CallGuard> guard_;  // from the first plugin on
  std::vector<sched::PluginSource> loaded_;
  SharedPlugins set_;
  std::vector<SetAside> aside_;  // that were found when plugins were last loaded
};

// Which plugins those are in words, for a log or a person: "plugin a is set aside: SIGSEGV at 2026-…"; empty: none.
std::string set_aside_text(const api::Plugins& plugins);

}  // namespace ares::aresctld
