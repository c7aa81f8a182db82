#include "sim/node_daemon.h"

#include <algorithm>
#include <utility>

#include "sim/mutants/lease_from_receipt.h"
#include "sim/network.h"
#include "sim/observer.h"
#include "sim/step_process.h"

namespace ares::sim {

NodeDaemon::NodeDaemon(Machine& machine, Life life)
    : machine_(machine),
      stage_(machine.stage()),
      life_(life),
      disk_client_(machine.disk_client(Actor::aresd, life)),
      spool_(machine.disk(), disk_client_, stage_.timeline) {}

NodeDaemon::~NodeDaemon() = default;

void NodeDaemon::start() {
  boundary();
  node::AgentSetup setup;
  setup.name = machine_.name();
  setup.inventory.cpus = machine_.traits().cpus;
  setup.inventory.memory = Bytes(8LL << 30);
  const Machine::Traits& traits = machine_.traits();
  setup.can_freeze = traits.can_freeze && !(traits.trial_may_fail && stage_.random.percent(50));
  setup.boot_id = machine_.boot_id();
  setup.fresh_uuid = "spool-" + machine_.name();
  agent_ = std::make_unique<node::NodeAgent>(std::move(setup), spool_, *this, *this);
  supervisors_ = std::make_unique<node::Supervisors>(spool_, *this, *agent_, machine_.boot_id());
  node::Executor* executor = supervisors_.get();
  if (stage_.mutant == Mutant::lease_from_receipt) {
    mutated_ = std::make_unique<LeaseFromReceipt>(*supervisors_);
    executor = mutated_.get();
  }
  if (const Status ready = agent_->recover(*executor, machine_.moment()); !ready) {
    stage_.note("aresd cannot start", machine_.index(), 0, [&] { return ready.error().message; });
    throw Killed{life_};  // its supervisor starts it again
  }
  machine_.network().dial(machine_.index());
  settle();
}

void NodeDaemon::connected() {
  boundary();
  agent_->connected(machine_.moment());
  settle();
}

void NodeDaemon::disconnected() {
  boundary();
  agent_->disconnected();
  settle();
}

void NodeDaemon::receive(const ToNode& message) {
  boundary();
  agent_->receive(message, machine_.moment());
  settle();
}

void NodeDaemon::noticed(const AttemptKey& key, Life step, node::StepNotice notice) {
  if (const auto found = channels_.find(key); found == channels_.end() || found->second != step)
    return;
  boundary();
  supervisors_->noticed(key, notice, machine_.moment());
  settle();
}

void NodeDaemon::closed(const AttemptKey& key, Life step) {
  const auto found = channels_.find(key);
  if (found == channels_.end() || found->second != step) return;
  channels_.erase(found);
  boundary();
  supervisors_->closed(key, machine_.moment());
  settle();
}

void NodeDaemon::settle() {
  std::optional<BootTime> due = agent_->next_deadline();
  if (const auto other = supervisors_->next_deadline(); other && (!due || *other < *due))
    due = other;
  if (!due || (armed_ && *armed_ <= *due)) return;
  armed_ = due;
  stage_.timeline.at(machine_.clock().when(*due), life_, [this, at = *due] {
    if (armed_ != at) return;
    armed_.reset();
    boundary();
    supervisors_->tick(machine_.moment());
    agent_->tick(machine_.moment());
    settle();
  });
}

void NodeDaemon::send(FromNode message) {
  boundary();
  stage_.observer->node_said(machine_.index(), message);
  machine_.network().from_node(machine_.index(), std::move(message));
  boundary();
}

Result<node::UserIdentity> NodeDaemon::find(UserId uid, GroupId gid) {
  if (uid.value() == 4711) return fail(ErrorCode::not_found, "no user 4711 on " + machine_.name());
  return node::UserIdentity{"u" + std::to_string(uid.value()), gid, {gid}, "/home", "/bin/sh"};
}

Status NodeDaemon::spawn(const AttemptKey& key) {
  boundary();
  if (stage_.random.percent(1)) return fail(ErrorCode::resource_exhausted, "cannot fork");
  channels_[key] = machine_.spawn_step(key, life_);
  boundary();
  return {};
}

void NodeDaemon::connect(const AttemptKey& key) {
  stage_.timeline.after(stage_.soon(), life_, [this, key] {
    boundary();
    StepProcess* step = machine_.step_of(key);
    // A supervisor that has just taken the lock may not listen yet.
    if (!step || stage_.random.percent(5)) {
      supervisors_->closed(key, machine_.moment());
    } else {
      step->attach(life_);
      channels_[key] = step->life();
      supervisors_->opened(key, machine_.moment());
    }
    settle();
  });
}

void NodeDaemon::send(const AttemptKey& key, const node::StepCommand& command) {
  boundary();
  const auto found = channels_.find(key);
  if (found == channels_.end()) return;
  channel_tail_ = std::max(channel_tail_, stage_.now() + stage_.soon());
  stage_.timeline.at(channel_tail_, found->second,
                     [command, step = found->second, machine = &machine_] {
                       machine->find_step(step)->deliver(command);
                     });
  boundary();
}

void NodeDaemon::drop(const AttemptKey& key) {
  channels_.erase(key);
}

void NodeDaemon::sweep(const AttemptKey& key) {
  boundary();
  machine_.kill_tree(key);
  boundary();
}

}  // namespace ares::sim
