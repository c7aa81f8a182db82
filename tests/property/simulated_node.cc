#include "property/simulated_node.h"

namespace ares::property {

AttemptReport SimulatedNode::report(const AttemptKey& key, const Held& held) const {
  AttemptReport r;
  r.attempt = key;
  r.fence = held.fence;
  r.phase = held.phase;
  r.exit = held.exit;
  const bool began = held.phase == AttemptPhase::running || held.phase == AttemptPhase::done;
  if (held.saves && began) {
    Checkpoint saved;
    saved.sequence = key.attempt.value();
    saved.attempt = key.attempt;
    saved.uri = "/saved/" + std::to_string(saved.sequence);
    r.checkpoints = {saved};
    if (held.restores) r.restored = Restored{key.attempt, key.attempt.value() - 1, 0};
  }
  if (held.saves && held.phase == AttemptPhase::done) {
    StepRecord script, step;
    script.number = kBatchStep;
    step.name = "solver";
    step.state = StepState::completed;
    r.steps = {script, step};
  }
  return r;
}

std::vector<AttemptReport> SimulatedNode::reports() const {
  std::vector<AttemptReport> out;
  for (const auto& [key, held] : attempts) out.push_back(report(key, held));
  return out;
}

FromNodeBody SimulatedNode::register_message() const {
  Register r;
  r.name = name_;
  r.incarnation = incarnation;
  r.incarnation_tag = name_ + "/" + std::to_string(incarnation);
  r.inventory.cpus = 4;
  r.inventory.memory = Bytes::gib(4);
  r.inventory.gpus = {{GpuIndex{0}, "a100", {}}, {GpuIndex{1}, "a100", {}}};
  r.can_freeze = true;
  r.version = "test";
  r.attempts = reports();
  r.joins = joins;
  return r;
}

FromNodeBody SimulatedNode::heartbeat(Time now) {
  sent_[++sequence_] = now;
  return Heartbeat{sequence_, reports()};
}

void SimulatedNode::receive(const ToNodeBody& body, Time now, std::deque<FromNodeBody>& answers) {
  const auto tell = [&](const AttemptKey& key) {
    answers.push_back(Progress{report(key, attempts[key])});
  };
  if (const auto* p = std::get_if<Prepare>(&body)) {
    const LaunchSpec& launch = p->launch;
    if (launch.share.incarnation != incarnation) return;
    Held& held =
        attempts
            .try_emplace(
                launch.attempt,
                Held{launch.fence, AttemptPhase::accepted, {}, launch.rank == 0, launch.leased})
            .first->second;
    held.saves = launch.rank == 0 && launch.spec->checkpoint;
    held.restores = !launch.checkpoints.empty();
    if (held.phase != AttemptPhase::accepted) tell(launch.attempt);
  } else if (const auto* go = std::get_if<Go>(&body)) {
    const auto found = attempts.find(go->attempt);
    if (found == attempts.end()) return;
    Held& held = found->second;
    // An expired lease keeps the gate closed.
    if (held.phase == AttemptPhase::ready && !frozen(held, now)) {
      held.phase = AttemptPhase::running;
      ++starts[go->attempt];
    }
    tell(go->attempt);
  } else if (const auto* kill = std::get_if<Kill>(&body)) {
    Held& held = attempts
                     .try_emplace(kill->attempt,
                                  Held{kill->fence, AttemptPhase::never_ran, {}, false, false})
                     .first->second;
    if (held.phase == AttemptPhase::running) {
      held.phase = AttemptPhase::done;
      held.exit.signal = 15;
    } else if (held.phase == AttemptPhase::accepted || held.phase == AttemptPhase::ready) {
      held.phase = AttemptPhase::never_ran;
    }
    tell(kill->attempt);
  } else if (const auto* set = std::get_if<SetSuspended>(&body)) {
    const auto found = attempts.find(set->attempt);
    if (found == attempts.end() || found->second.fence != set->fence) return;
    Held& held = found->second;
    if (set->lsn <= held.suspend_set) return;
    held.suspend_set = set->lsn;
    held.suspended = set->suspended;
  } else if (const auto* forget = std::get_if<Forget>(&body)) {
    const auto found = attempts.find(forget->attempt);
    if (found != attempts.end() && found->second.fence == forget->fence &&
        found->second.phase >= AttemptPhase::done)
      attempts.erase(found);
  } else if (const auto* ack = std::get_if<HeartbeatAck>(&body)) {
    const auto sent = sent_.find(ack->sequence);
    if (sent != sent_.end()) lease_until_ = std::max(lease_until_, sent->second + lease_);
  } else if (std::holds_alternative<Welcome>(body)) {
    registered = true;
    answers.push_back(heartbeat(now));
  }
}

void SimulatedNode::step(std::mt19937_64& random, std::deque<FromNodeBody>& answers) {
  for (auto& [key, held] : attempts) {
    if (random() % 3 != 0) continue;
    if (held.phase == AttemptPhase::accepted) {
      if (random() % 12 == 0) {
        held.phase = AttemptPhase::never_ran;
        answers.push_back(LaunchRefused{key, held.fence, random() % 3 != 0, "no luck"});
        continue;
      }
      held.phase = AttemptPhase::ready;
    } else if (held.phase == AttemptPhase::running && held.suspended) {
      continue;
    } else if (held.phase == AttemptPhase::running && (held.batch || random() % 20 == 0)) {
      held.phase = random() % 15 == 0 ? AttemptPhase::lost : AttemptPhase::done;
      held.exit.code = random() % 4 == 0 ? 1 : 0;
      held.exit.timed_out = random() % 10 == 0;
    } else {
      continue;
    }
    answers.push_back(Progress{report(key, held)});
  }
}

void SimulatedNode::reboot() {
  ++incarnation;
  registered = false;
  sent_.clear();
  lease_until_ = {};
  std::erase_if(attempts, [](const auto& item) { return item.second.phase < AttemptPhase::done; });
}

}  // namespace ares::property
