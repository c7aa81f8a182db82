// StepProcess: one aresstepd: the production StepMachine with a virtual directory and virtual
// processes, and its channel to aresd. Owned by its Machine; one thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "node/step.h"
#include "node/step_spec.h"
#include "sim/machine.h"

namespace ares::sim {

class StepProcess final : public node::ProcessTree {
 public:
  StepProcess(Machine& machine, AttemptKey key, Life life, Life aresd);
  ~StepProcess() override;

  void start();
  void deliver(const node::StepCommand& command);  // over the channel; the caller is its other end
  void task_ended(const ExitStatus& exit);
  void attach(Life aresd) { aresd_ = aresd; }

  const AttemptKey& key() const { return key_; }
  Life life() const { return life_; }
  Life aresd() const { return aresd_; }

  Result<node::TaskRecord> spawn_gated() override;
  void open_gate() override;
  void signal(std::int32_t signal, node::SignalTo to) override;
  bool freeze() override;
  bool has_freezer() const override { return machine_.traits().can_freeze; }
  void thaw() override;
  void kill_all() override;

 private:
  void notice(node::StepNotice notice);
  void settle();  // after every event: exits when finished, else sets the timer
  void boundary() { disk_client_.boundary(); }

  Machine& machine_;
  Stage& stage_;
  AttemptKey key_;
  Life life_;
  Life aresd_;  // the other end of the channel
  DiskClient disk_client_;
  std::unique_ptr<node::AttemptDir> dir_;
  node::StepSpec spec_;
  std::unique_ptr<node::StepMachine> step_machine_;
  std::vector<node::StepCommand> early_;  // received before it reads the channel
  std::optional<BootTime> armed_;
};

}  // namespace ares::sim
