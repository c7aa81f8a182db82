// SimulatedTree: the simulated processes of an attempt. All that exists is the time at which they
// end. Owned by the mock backend, one per attempt; one thread.
#pragma once

#include <optional>
#include <string_view>

#include "node/moment.h"
#include "node/step.h"

namespace ares::exec {

class SimulatedTree final : public node::ProcessTree {
 public:
  SimulatedTree(Duration run_time, int exit_code) : left_(run_time), exit_code_(exit_code) {}

  Result<node::TaskRecord> spawn_gated() override { return node::TaskRecord{}; }
  void open_gate() override;
  void signal(std::int32_t signal, node::SignalTo to) override;
  bool freeze() override;
  void thaw() override;
  void kill_all() override;

  void set_now(BootTime now) { now_ = now; }
  std::optional<BootTime> due() const;  // when announce() has an event to deliver
  void announce(node::StepMachine& machine, node::Moment now);

 private:
  void end(int code, int signal);

  BootTime now_{};
  Duration left_;
  int exit_code_;
  std::optional<BootTime> runs_until_;
  std::optional<ExitStatus> ended_;  // not yet announced
  bool announced_ = false;
  bool killed_ = false;
};

// Seconds of the first `sleep N` at the start of a line of the script; none if there is no such line.
std::optional<Duration> first_sleep(std::string_view script);

}  // namespace ares::exec
