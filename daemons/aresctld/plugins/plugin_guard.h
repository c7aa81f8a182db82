// PluginGuard: tracks calls to scheduler plugins, to identify one that crashes or hangs. If a fatal signal is raised in a plugin or a
// call takes too long, the plugin's mark and the cause are appended to a file and the process ends. The next start reads the file
// (scheduler_plugins.h). One per process, because of the signal handlers. Created by the main thread before plugins are loaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "sched/adapter/plugin_set.h"

namespace ares::aresctld {

class PluginGuard final : public sched::CallGuard {
 public:
  // Appends to `file`, creating it if necessary. `limit`: maximum duration of a call.
  static Result<std::shared_ptr<PluginGuard>> start(const std::string& file, Seconds limit);
  ~PluginGuard() override;

  void enter(const std::string& mark) noexcept override;
  void leave() noexcept override;

 private:
  PluginGuard(int file, Seconds limit);
  void watch();

  const int file_;
  const std::chrono::steady_clock::duration limit_;
  Mutex mutex_;
  Condition stopped_;
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::thread watchdog_;
};

}  // namespace ares::aresctld
