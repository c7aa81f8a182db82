#include "sim/step_process.h"

#include <utility>

#include "sim/node_daemon.h"
#include "sim/observer.h"

namespace ares::sim {

StepProcess::StepProcess(Machine& machine, AttemptKey key, Life life, Life aresd)
    : machine_(machine),
      stage_(machine.stage()),
      key_(key),
      life_(life),
      aresd_(aresd),
      disk_client_(machine.disk_client(Actor::stepd, life)) {}

StepProcess::~StepProcess() = default;

void StepProcess::start() {
  boundary();
  dir_ = VirtualSpool(machine_.disk(), disk_client_, stage_.timeline).open(key_);
  Result<std::string> text =
      dir_ ? dir_->read(node::Record::spec) : fail(ErrorCode::not_found, "no directory");
  Result<node::StepSpec> spec = text ? node::decode_step_spec(*text) : fail(text.error());
  if (!spec) {
    stage_.note("stepd without spec", number_of(key_), machine_.index());
    return machine_.step_exits(life_);
  }
  spec_ = std::move(*spec);
  node::StepSettings settings = node::settings_of(spec_.launch);
  settings.self.pid = life_.slot;
  step_machine_ = std::make_unique<node::StepMachine>(std::move(settings), *dir_, *this,
                                                      [this](node::StepNotice n) { notice(n); });
  const Status started = step_machine_->start(machine_.moment());
  stage_.note("stepd start", number_of(key_), machine_.index(), [&] {
    return node::directory_name(key_) + " on " + machine_.name() +
           (started ? "" : ": " + started.error().message);
  });
  settle();
  for (const node::StepCommand& command : std::exchange(early_, {})) deliver(command);
}

void StepProcess::deliver(const node::StepCommand& command) {
  if (!step_machine_) return early_.push_back(command);
  if (step_machine_->finished()) return;
  boundary();
  // Encoded and decoded like over the socket.
  const auto packet = node::decode_step_command(node::encode(command));
  if (!packet) throw Violation{"a step command does not survive its own encoding"};
  step_machine_->receive(*packet, machine_.moment());
  settle();
}

void StepProcess::task_ended(const ExitStatus& exit) {
  boundary();
  step_machine_->task_ended(exit, "", machine_.moment());
  settle();
}

void StepProcess::settle() {
  if (!step_machine_) return;
  if (step_machine_->finished()) {
    boundary();
    return machine_.step_exits(life_);
  }
  const auto due = step_machine_->next_deadline();
  if (!due || (armed_ && *armed_ <= *due)) return;
  armed_ = due;
  stage_.timeline.at(machine_.clock().when(*due), life_, [this, at = *due] {
    if (armed_ != at) return;
    armed_.reset();
    boundary();
    step_machine_->tick(machine_.moment());
    settle();
  });
}

void StepProcess::notice(node::StepNotice notice) {
  boundary();
  stage_.note("stepd notice", number_of(key_), static_cast<std::uint64_t>(notice));
  if (stage_.timeline.alive(aresd_))
    stage_.timeline.after(stage_.soon(), aresd_, [&m = machine_, key = key_, notice, me = life_] {
      m.aresd()->noticed(key, me, notice);
    });
  boundary();
}

Result<node::TaskRecord> StepProcess::spawn_gated() {
  boundary();
  machine_.spawn_gated(spec_.launch, life_, program_of(*spec_.launch.spec));
  boundary();
  node::TaskRecord task;
  task.pid = 1000 + life_.slot;
  return task;
}

void StepProcess::open_gate() {
  boundary();
  machine_.open_gate(key_);
  boundary();
}

void StepProcess::signal(std::int32_t signal, node::SignalTo) {
  boundary();
  machine_.signal_tree(key_, signal);
  boundary();
}

bool StepProcess::freeze() {
  return machine_.freeze(key_);
}

void StepProcess::thaw() {
  boundary();
  machine_.thaw(key_);
  boundary();
}

void StepProcess::kill_all() {
  boundary();
  machine_.kill_tree(key_);
  boundary();
  stage_.timeline.after(stage_.soon(), life_, [this] {
    if (!step_machine_ || step_machine_->finished()) return;
    boundary();
    step_machine_->tree_gone(Usage{}, false, machine_.moment());
    settle();
  });
}

}  // namespace ares::sim
