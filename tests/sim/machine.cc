#include "sim/machine.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "sim/network.h"
#include "sim/node_daemon.h"
#include "sim/observer.h"
#include "sim/step_process.h"

namespace ares::sim {

std::vector<std::string> to_arguments(const Program& program) {
  return {std::to_string(program.runs.count()), std::to_string(program.exit_code),
          program.ignores_term ? "stubborn" : "polite"};
}

Program program_of(const JobSpec& spec) {
  if (spec.arguments.size() != 3) throw Violation{"the arguments of a script changed on the way"};
  return {Duration(std::stoll(spec.arguments[0])), std::stoi(spec.arguments[1]),
          spec.arguments[2] == "stubborn"};
}

Machine::Machine(Stage& stage, Network& network, std::uint32_t index, Traits traits)
    : stage_(stage),
      network_(network),
      index_(index),
      traits_(std::move(traits)),
      life_(stage.timeline.open()) {
  clock_.wall_offset = stage_.random.between(Duration(-30s), Duration(30s));
  clock_.rate_ppm = stage_.random.between(-15'000, 15'000);
  clock_.booted = -stage_.random.between(Duration(60s), Duration(3600s));
  disk_.forgets_to_sync = stage_.mutant == Mutant::forgotten_fsync;
  disk_.syncs_late = stage_.mutant == Mutant::early_finish;
}

Machine::~Machine() = default;

// --- start and death ------------------------------------------------------------------------

void Machine::start_aresd() {
  if (!powered_ || aresd_) return;
  aresd_ = std::make_unique<NodeDaemon>(*this, stage_.timeline.open());
  stage_.note("aresd start", index_, 0, [&] { return traits_.name; });
  start_fork_server(aresd_->life());
  aresd_->start();
}

void Machine::start_aresd_soon() {
  stage_.timeline.after(stage_.random.between(Duration(100ms), Duration(5s)), life_,
                        [this] { start_aresd(); });
}

void Machine::kill_aresd() {
  if (!aresd_) return;
  stage_.note("aresd dies", index_, 0, [&] { return traits_.name; });
  const Life life = aresd_->life();
  stage_.timeline.close(life);
  aresd_.reset();
  network_.node_died(index_);
  start_aresd_soon();
}

void Machine::kill_step(Life life) {
  const auto found =
      std::find_if(steps_.begin(), steps_.end(), [&](const auto& s) { return s->life() == life; });
  if (found == steps_.end()) return;
  const AttemptKey key = (*found)->key();
  stage_.note("stepd dies", number_of(key), index_);
  step_exits(life);
}

bool Machine::kill_some_step() {
  if (steps_.empty()) return false;
  kill_step(steps_[stage_.random.below(steps_.size())]->life());
  return true;
}

// The sockets that it was to pass on close with it, which tells aresd that no supervisor has the attempt.
void Machine::kill_fork_server(Life life) {
  const auto found = std::find_if(fork_servers_.begin(), fork_servers_.end(),
                                  [&](const ForkServer& server) { return server.life == life; });
  if (found == fork_servers_.end()) return;
  stage_.note("fork server dies", index_, found->requests.size());
  const ForkServer dead = std::move(*found);
  fork_servers_.erase(found);
  stage_.timeline.close(life);
  for (const Life step : dead.requests) {
    if (stage_.mutant == Mutant::lost_launch) {
      stage_.timeline.close(step);
      std::erase_if(steps_, [&](const auto& one) { return one->life() == step; });
    } else {
      step_exits(step);
    }
  }
  stage_.timeline.after(1s, dead.aresd, [this, aresd = dead.aresd] { start_fork_server(aresd); });
}

void Machine::kill_fork_server() {
  if (ForkServer* server = aresd_ ? fork_server_of(aresd_->life()) : nullptr)
    kill_fork_server(server->life);
}

void Machine::stop_fork_server(Instant until) {
  if (ForkServer* server = aresd_ ? fork_server_of(aresd_->life()) : nullptr)
    stage_.timeline.pause(server->life, until);
}

bool Machine::end_life(Life life) {
  if (aresd_ && aresd_->life() == life) {
    kill_aresd();
    return true;
  }
  for (const ForkServer& server : fork_servers_)
    if (server.life == life) {
      kill_fork_server(life);
      return true;
    }
  for (const auto& step : steps_)
    if (step->life() == life) {
      kill_step(life);
      return true;
    }
  return false;
}

void Machine::lose_power() {
  if (!powered_) return;
  stage_.note("power loss", index_, 0, [&] { return traits_.name; });
  powered_ = false;
  for (const auto& [key, tree] : trees_)
    if (tree.running) stage_.observer->user_killed(key, index_);
  trees_.clear();
  for (const auto& step : steps_) stage_.timeline.close(step->life());
  steps_.clear();
  for (const ForkServer& server : fork_servers_) stage_.timeline.close(server.life);
  fork_servers_.clear();
  if (aresd_) {
    stage_.timeline.close(aresd_->life());
    aresd_.reset();
    network_.node_died(index_);
  }
  stage_.timeline.close(life_);
  disk_.lose_unsynced(stage_.random);
  stage_.observer->power_lost(index_);
}

void Machine::power_on() {
  if (powered_) return;
  powered_ = true;
  life_ = stage_.timeline.open();
  boot_id_ = "boot-" + std::to_string(++boots_);
  clock_.booted = stage_.now() - 1s;
  stage_.note("power on", index_, 0, [&] { return traits_.name; });
  start_aresd_soon();
}

void Machine::pause(Instant until) {
  if (aresd_) stage_.timeline.pause(aresd_->life(), until);
  for (const ForkServer& server : fork_servers_) stage_.timeline.pause(server.life, until);
  for (const auto& step : steps_) stage_.timeline.pause(step->life(), until);
}

// --- supervisors --------------------------------------------------------------------------------

Machine::ForkServer* Machine::fork_server_of(Life aresd) {
  for (ForkServer& server : fork_servers_)
    if (server.aresd == aresd) return &server;
  return nullptr;
}

void Machine::start_fork_server(Life aresd) {
  std::erase_if(fork_servers_, [this](const ForkServer& server) {
    return server.requests.empty() && !stage_.timeline.alive(server.aresd);
  });
  fork_servers_.push_back({stage_.timeline.open(), aresd, {}});
}

void Machine::start_step(Life step) {
  const bool slow = stage_.random.percent(3);
  const Duration delay = slow ? stage_.random.between(Duration(1s), Duration(6s)) : stage_.soon();
  stage_.timeline.after(delay, step, [this, step] { find_step(step)->start(); });
}

Life Machine::spawn_step(const AttemptKey& key, Life parent) {
  const Life life = stage_.timeline.open();
  steps_.push_back(std::make_unique<StepProcess>(*this, key, life, parent));
  if (ForkServer* server = fork_server_of(parent))
    ask_fork_server(*server, life);
  else
    start_step(life);
  return life;
}

void Machine::ask_fork_server(ForkServer& server, Life step) {
  constexpr Duration kAnswers = 10s;  // of a server that runs; aresd kills another one
  server.requests.push_back(step);
  stage_.timeline.after(stage_.soon(), server.life,
                        [this, life = server.life, step] { serve(life, step); });
  stage_.timeline.after(kAnswers, server.aresd, [this, aresd = server.aresd, step] {
    ForkServer* asked = fork_server_of(aresd);
    if (asked && std::count(asked->requests.begin(), asked->requests.end(), step) > 0)
      kill_fork_server(asked->life);
  });
}

// Passes the request on to a supervisor that waits, and answers.
void Machine::serve(Life server, Life step) {
  const auto boundary = [&] { stage_.boundaries.at(Actor::fork_server, server, index_); };
  boundary();
  for (ForkServer& one : fork_servers_)
    if (one.life == server) std::erase(one.requests, step);
  if (find_step(step)) start_step(step);
  boundary();
}

StepProcess* Machine::step_of(const AttemptKey& key) {
  const auto found = disk_.directories.find(key);
  if (found == disk_.directories.end() || !found->second->holder) return nullptr;
  return find_step(*found->second->holder);
}

StepProcess* Machine::find_step(Life life) {
  for (const auto& step : steps_)
    if (step->life() == life) return step.get();
  return nullptr;
}

// Also called when it is killed: the kernel releases its lock, and its processes notice the end.
void Machine::step_exits(Life life) {
  const auto found =
      std::find_if(steps_.begin(), steps_.end(), [&](const auto& s) { return s->life() == life; });
  if (found == steps_.end()) return;
  // Destroyed later: the caller may be one of its member functions.
  std::shared_ptr<StepProcess> gone(std::move(*found));
  steps_.erase(found);
  stage_.timeline.close(life);
  supervisor_died(life);
  if (stage_.timeline.alive(gone->aresd()))
    stage_.timeline.after(stage_.soon(), gone->aresd(),
                          [this, key = gone->key(), life] { aresd_->closed(key, life); });
  stage_.timeline.after(Duration(0), Timeline::world(), [gone] {});
}

void Machine::supervisor_died(Life life) {
  for (auto it = trees_.begin(); it != trees_.end();) {
    UserTree& tree = it->second;
    if (tree.supervisor == life && (!tree.running || traits_.can_freeze)) {
      if (tree.running) stage_.observer->user_killed(it->first, index_);
      it = trees_.erase(it);
    } else {
      ++it;
    }
  }
}

// --- user processes -----------------------------------------------------------------------------

void Machine::spawn_gated(const LaunchSpec& launch, Life supervisor, Program program) {
  UserTree tree;
  tree.supervisor = supervisor;
  tree.fence = launch.fence;
  tree.program = program;
  tree.cpus = launch.share.cpus;
  tree.holds = launch.rank != 0;
  if (trees_.contains(launch.attempt))
    throw Violation{"two sets of processes of one attempt on one machine"};
  trees_.emplace(launch.attempt, tree);
}

void Machine::open_gate(const AttemptKey& key) {
  const auto found = trees_.find(key);
  if (found == trees_.end()) return;
  UserTree& tree = found->second;
  tree.running = true;
  std::uint32_t cpus = 0;
  for (const auto& [other, t] : trees_)
    if (t.running && !stage_.observer->has_released_cpus(other)) cpus += t.cpus;
  if (tree.holds)
    return stage_.observer->steps_may_run(key, tree.fence, index_, cpus, traits_.cpus);
  stage_.observer->user_started(key, tree.fence, index_, cpus, traits_.cpus);
  plan_end(key, tree, stage_.now() + tree.program.runs, {.code = tree.program.exit_code});
}

void Machine::plan_end(const AttemptKey& key, UserTree& tree, Instant at, ExitStatus exit) {
  tree.ends_at = at;
  const std::uint64_t plan = ++tree.plan;
  stage_.timeline.at(at, life_, [this, key, plan, exit] {
    const auto found = trees_.find(key);
    if (found == trees_.end() || found->second.plan != plan) return;
    const Life supervisor = found->second.supervisor;
    trees_.erase(found);
    stage_.observer->user_ended(key, index_, exit);
    for (const auto& step : steps_)
      if (step->life() == supervisor) {
        stage_.timeline.after(stage_.soon(), supervisor,
                              [s = step.get(), exit] { s->task_ended(exit); });
        return;
      }
  });
}

void Machine::signal_tree(const AttemptKey& key, std::int32_t signal) {
  const auto found = trees_.find(key);
  if (found == trees_.end() || !found->second.running || found->second.frozen) return;
  if (signal == SIGSTOP) hold_still(key, found->second);
  if (signal == SIGTERM && !found->second.program.ignores_term && !found->second.holds)
    plan_end(key, found->second, stage_.now() + stage_.soon(), {.signal = SIGTERM});
}

bool Machine::freeze(const AttemptKey& key) {
  if (!traits_.can_freeze) return false;
  const auto found = trees_.find(key);
  if (found == trees_.end()) return true;
  if (!found->second.frozen) hold_still(key, found->second);
  return true;
}

void Machine::hold_still(const AttemptKey& key, UserTree& tree) {
  tree.frozen = true;
  tree.left = std::max(Duration(0), tree.ends_at - stage_.now());
  ++tree.plan;
  stage_.observer->user_frozen(key, index_);
}

void Machine::thaw(const AttemptKey& key) {
  const auto found = trees_.find(key);
  if (found == trees_.end() || !found->second.frozen) return;
  UserTree& tree = found->second;
  tree.frozen = false;
  stage_.observer->user_thawed(key, index_);
  if (tree.holds) return;
  plan_end(key, tree, stage_.now() + tree.left, {.code = tree.program.exit_code});
}

void Machine::kill_tree(const AttemptKey& key) {
  const auto found = trees_.find(key);
  if (found == trees_.end()) return;
  if (found->second.running) stage_.observer->user_killed(key, index_);
  trees_.erase(found);
}

}  // namespace ares::sim
