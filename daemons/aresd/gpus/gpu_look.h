// GpuLook: looks whether the GPUs of a node are clean, in a thread of its own, when it is asked to.
// The driver's library runs in another process (aresd/gpus/discovery_child.h). Owned by main(); its
// destructor ends both.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "base/units.h"
#include "gres/found/found.h"
#include "gres/found/offer.h"
#include "node/idle_gpus.h"
#include "os/fd.h"

namespace ares::aresd {

struct GpuLookSetup {
  std::string source;  // of discovery; see is_looked_at()
  Seconds timeout{60};
  std::map<GpuIndex, std::string> gpus{};      // what the node offers, by the names of the driver
  Bytes idle_memory{};                         // in use on a clean GPU, at most
  std::vector<std::string> system_programs{};  // that may use GPUs at any time
};

// Whether that source of discovery tells what uses the GPUs now.
bool is_looked_at(const std::string& source);

// Which GPUs are not clean, and why. `proc`: where processes are described.
std::map<GpuIndex, std::string> unclean_gpus(const GpuLookSetup& setup,
                                             const gres::FoundMachine& found,
                                             const std::string& proc = "/proc");

class GpuLook {
 public:
  // `tell` is called on the thread after each look.
  GpuLook(GpuLookSetup setup, std::function<void(node::GpuLook)> tell);
  ~GpuLook();
  GpuLook(const GpuLook&) = delete;
  GpuLook& operator=(const GpuLook&) = delete;

  void ask();  // any thread, does not block; looks that have not begun are one

 private:
  void run(const std::stop_token& stop);

  GpuLookSetup setup_;
  std::function<void(node::GpuLook)> tell_;
  os::Fd asked_, cancel_;  // eventfds
  std::jthread thread_;
};

}  // namespace ares::aresd
