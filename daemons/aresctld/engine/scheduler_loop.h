// SchedulerLoop: the scheduler's thread. A pass begins after a change, and only on a view that
// contains the outcome of the last plan. It reads immutable views and proposes starts; the engine
// decides.
#pragma once

#include <memory>
#include <thread>

#include "aresctld/config_holder.h"
#include "aresctld/engine/engine_loop.h"
#include "aresctld/engine/view.h"

namespace ares::aresctld {

class SchedulerLoop {
 public:
  SchedulerLoop(ViewHolder& views, EngineLoop& engine, Clock& clock, const ConfigHolder& config);
  ~SchedulerLoop();
  SchedulerLoop(const SchedulerLoop&) = delete;
  SchedulerLoop& operator=(const SchedulerLoop&) = delete;

  void start();
  void stop();  // views.stop() must have been called

 private:
  void run();
  void propose(Plan plan);

  ViewHolder& views_;
  EngineLoop& engine_;
  Clock& clock_;
  const ConfigHolder& config_;
  std::thread thread_;
};

}  // namespace ares::aresctld
