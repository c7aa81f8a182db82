// Watches the errors that NVIDIA's driver reports (XID), in a process of its own
// (aresd/gpus/driver_process.h). Owned by the main thread; it has a thread of its own.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "aresd/gpus/driver_process.h"
#include "base/result.h"
#include "os/fd.h"

namespace ares::aresd {

class GpuWatch {
 public:
  // `report` gets a line for the log, and whether a GPU may be at fault, so that its state should
  // be looked at again. That is said no earlier than 10 seconds after the start, once. Called on
  // the watch's thread.
  using Report = std::function<void(const std::string& text, bool look_again)>;

  // Runs `command`, or `aresd --watch-gpus-here`.
  static Result<GpuWatch> start(Report report, std::vector<std::string> command = {});

 private:
  GpuWatch() = default;

  // The thread ends when the other end of `stop_` is closed, so it is destroyed last.
  std::jthread thread_;
  os::Fd stop_;  // nothing is written to it
};

// --watch-gpus-here: prints a line for each error until the process that started it has ended.
Status print_gpu_errors();

}  // namespace ares::aresd
