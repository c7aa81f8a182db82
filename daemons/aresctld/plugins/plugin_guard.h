// PluginGuard: knows which thread is in which plugin of the scheduler, so that one that crashes or hangs can be named. When a fatal signal
// strikes inside a plugin, or a call takes too long, its mark and the cause are appended to a file and the process ends; the next start
// reads the file (scheduler_plugins.h). One in a process: signals have one handler. Made by the main thread before the plugins are loaded.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "sched/adapter/plugin_set.h"

namespace ares::aresctld {

class PluginGuard final : public sched::CallGuard {
 public:
  // Appends to `file`, which is created if need be; a call may take as long as `limit`.
  static Result<std::shared_ptr<PluginGuard>> start(const std::string& file, Seconds limit);
  ~PluginGuard() override;

  void enter(const std::string& mark) noexcept override;
  void leave() noexcept override;

 private:
  PluginGuard(int file, Seconds limit);
  void watch();

  const int file_;
  const std::chrono::steady_clock::duration limit_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::thread watchdog_;
};

}  // namespace ares::aresctld
