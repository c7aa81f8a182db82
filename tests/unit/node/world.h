// World: one node in a test, with a virtual disk that loses what was not synced, supervisors as
// virtual processes that may die at any call, and a clock that only the test moves. The agent,
// Supervisors and StepMachine in it are production code. Owned by one test; one thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/agent.h"
#include "node/step.h"
#include "node/supervisors.h"
#include "unit/node/virtual_disk.h"

namespace ares::node {

// As the supervisors of processes do, through the interface of plugins.
class TellingSupervisors final : public Supervisors {
 public:
  using Supervisors::Supervisors;
  bool tells_stopped() const override { return true; }
};

class World final : public StepTransport, private Uplink, private Users {
 public:
  World() { boot_daemon(); }

  std::function<Status()> reboot{};  // of the next daemon
  std::string enforced{};            // likewise
  std::uint16_t gpus = 0;            // likewise
  std::function<void()> look_at_gpus{};
  IntervalSet offered_cpus{};
  std::function<MachineLoad()> load{};

  // --- the daemon ---
  void boot_daemon() {
    supervisors_.reset();
    agent_.reset();
    spool_ = std::make_unique<VirtualSpool>(disk, &daemon_fate);
    AgentSetup setup;
    setup.name = "n1";
    setup.boot_id = "boot" + std::to_string(boots_);
    setup.fresh_uuid = "uuid";
    setup.reboot = reboot;
    setup.enforced = enforced;
    for (std::uint16_t i = 0; i < gpus; ++i)
      setup.inventory.gpus.push_back({GpuIndex(i), "a100", {}});
    if (gpus > 1) setup.inventory.gpus[1].cores = {2, 3};
    setup.look_at_gpus = look_at_gpus;
    setup.offered_cpus = offered_cpus;
    setup.load = load;
    Uplink& uplink = *this;
    Users& users = *this;
    agent_ = std::make_unique<NodeAgent>(setup, *spool_, users, uplink);
    supervisors_ = std::make_unique<TellingSupervisors>(*spool_, *this, *agent_, setup.boot_id);
    guard([&] {
      recovered = agent_->recover(*supervisors_, now);
      agent_->connected(now);
    });
  }
  bool daemon_alive() const { return daemon_alive_; }
  // SIGKILL of aresd, and a new start of it.
  void restart_daemon() {
    daemon_alive_ = true;
    channels_.clear();
    answers_.clear();
    daemon_fate.never();
    boot_daemon();
  }
  void lose_power() {
    for (auto& [pid, step] : steps_) step->dead = true;
    steps_.clear();
    disk.lose_power();
    ++boots_;
    restart_daemon();
  }

  void tell(ToNodeBody body, std::uint64_t epoch = 1) {
    guard([&] { agent_->receive({"n1", Epoch(epoch), std::move(body)}, now); });
  }
  void tell(ToNodeBody body, JournalPosition position) {
    guard([&] {
      agent_->receive({"n1", position.epoch, std::move(body), std::move(position)}, now);
    });
  }
  void welcome(Seconds lease = Seconds(300)) {
    tell(Welcome{agent_->incarnation(), lease, Seconds(10)});
    tell(HeartbeatAck{last_heartbeat});
  }
  NodeAgent& agent() { return *agent_; }
  Supervisors& supervisors() { return *supervisors_; }
  std::optional<AttemptReport> report(const AttemptKey& key) const {
    for (const AttemptReport& r : agent_->attempts())
      if (r.attempt == key) return r;
    return std::nullopt;
  }
  AttemptPhase phase(const AttemptKey& key) const {
    auto r = report(key);
    return r ? r->phase : AttemptPhase::accepted;
  }

  // --- supervisors, as virtual processes ---
  struct Step final : ProcessTree {
    World& world;
    AttemptKey key;
    int pid;
    bool dead = false;
    bool runs = false, frozen = false, killed = false, ended = false;
    std::vector<int> signals;
    std::unique_ptr<AttemptDir> dir;
    std::unique_ptr<StepMachine> machine;

    Step(World& w, const AttemptKey& k, int p) : world(w), key(k), pid(p) {}
    Result<TaskRecord> spawn_gated() override {
      return world.step_fate.around([&]() -> Result<TaskRecord> { return TaskRecord{}; });
    }
    void open_gate() override {
      world.step_fate.around([&] {
        runs = true;
        ++world.starts[key];
        return 0;
      });
    }
    void signal(std::int32_t s, SignalTo) override { signals.push_back(s); }
    bool freeze() override {
      frozen = world.can_freeze;
      return frozen;
    }
    void thaw() override { frozen = false; }
    void kill_all() override { killed = true; }
  };

  Status spawn(const AttemptKey& key) override {
    if (refuse_spawn) return fail(ErrorCode::unavailable, "no processes left");
    const int pid = ++last_pid_;
    channels_[key] = pid;
    to_start_.push_back({key, pid});
    return {};
  }
  void connect(const AttemptKey& key) override {
    for (auto& [pid, step] : steps_)
      if (step->key == key && !step->dead && step->machine) {
        channels_[key] = pid;
        answers_.push_back({key, true});
        return;
      }
    answers_.push_back({key, false});
  }
  void send(const AttemptKey& key, const StepCommand& command) override {
    auto it = channels_.find(key);
    if (it == channels_.end()) return;
    const Result<StepCommand> packet = decode_step_command(encode(command));
    packets_.push_back({it->second, *packet});
  }
  void drop(const AttemptKey& key) override { channels_.erase(key); }
  Remains sweep(const AttemptKey&) override { return remains; }

  Step* step(const AttemptKey& key) {
    for (auto& [pid, s] : steps_)
      if (s->key == key && !s->dead) return s.get();
    return nullptr;
  }
  void end_task(const AttemptKey& key, int code) {
    if (Step* s = step(key))
      in_step(*s, [&] { s->machine->task_ended({code, 0, false, false}, "", now); });
  }
  void kill_step(const AttemptKey& key) {
    if (Step* s = step(key)) die(*s);
  }
  // How many supervisors of the attempt have running user code now (frozen ones do not count).
  int running(const AttemptKey& key) const {
    int n = 0;
    for (const auto& [pid, s] : steps_) n += s->key == key && s->runs && !s->frozen && !s->dead;
    return n;
  }

  // Delivers all pending messages until nothing changes. The clock does not advance.
  void settle() {
    for (int round = 0; round < 200; ++round) {
      bool moved = start_processes();
      moved = deliver_packets() || moved;
      moved = finish_trees() || moved;
      moved = tell_answers() || moved;
      guard([&] {
        supervisors_->tick(now);
        agent_->tick(now);
      });
      const auto next = supervisors_->next_deadline();
      if (!moved && !(next && *next <= now.boot)) return;
    }
  }
  void advance(Duration time) {
    now.boot += time;
    now.wall += time;
    for (auto& [pid, s] : steps_)
      if (!s->dead && s->machine && !s->machine->finished())
        in_step(*s, [this, &step = *s] { step.machine->tick(now); });
    guard([&] {
      supervisors_->tick(now);
      agent_->tick(now);
    });
    settle();
  }

  Disk disk;
  Fate daemon_fate, step_fate;
  Moment now{Time(std::chrono::seconds(1'700'000'000)), BootTime(std::chrono::seconds(1000))};
  std::map<AttemptKey, int> starts;  // number of starts of user code
  std::vector<FromNode> sent;
  std::uint64_t last_heartbeat = 0;
  bool can_freeze = true;
  bool refuse_spawn = false;
  Remains remains;  // of every supervisor that dies
  Status recovered;

 private:
  template <class Call>
  void guard(Call call) {
    if (!daemon_alive_) return;
    try {
      call();
    } catch (const Died&) {
      daemon_alive_ = false;
      channels_.clear();
      answers_.clear();
    }
  }
  template <class Call>
  void in_step(Step& s, Call call) {
    try {
      call();
    } catch (const Died&) {
      return die(s);
    }
    if (s.machine->finished()) die(s);
  }
  // The lock, the process tree and the channel end with the process.
  void die(Step& s) {
    s.dead = true;
    s.runs = false;
    if (auto it = disk.directories.find(s.key);
        it != disk.directories.end() && it->second->lock_holder == s.pid)
      it->second->lock_holder = 0;
    auto channel = channels_.find(s.key);
    if (channel != channels_.end() && channel->second == s.pid) {
      channels_.erase(channel);
      answers_.push_back({s.key, false});
    }
  }
  bool start_processes() {
    bool moved = false;
    while (!to_start_.empty()) {
      moved = true;
      const auto [key, pid] = to_start_.front();
      to_start_.pop_front();
      auto owned = std::make_unique<Step>(*this, key, pid);
      Step& s = *owned;
      steps_[pid] = std::move(owned);
      auto it = disk.directories.find(key);
      if (it == disk.directories.end()) {
        die(s);
        continue;
      }
      s.dir = std::make_unique<VirtualDir>(it->second, disk, pid, &step_fate);
      const Result<StepSpec> spec = decode_step_spec(*s.dir->read(Record::spec));
      StepSettings settings;
      settings.attempt = key;
      settings.fence = spec->launch.fence;
      settings.leased = spec->launch.leased;
      settings.time_limit = spec->launch.time_limit;
      settings.kill_wait = spec->launch.kill_wait;
      s.machine = std::make_unique<StepMachine>(
          settings, *s.dir, s, [this, key = key, pid = pid](StepNotice n) {
            if (channels_.contains(key) && channels_[key] == pid) notices_.push_back({key, n});
          });
      in_step(s, [&] { (void)s.machine->start(now); });
    }
    while (!notices_.empty()) {
      moved = true;
      const auto [key, notice] = notices_.front();
      notices_.pop_front();
      guard([&, key = key, notice = notice] { supervisors_->noticed(key, notice, now); });
    }
    return moved;
  }
  bool deliver_packets() {
    bool moved = false;
    while (!packets_.empty()) {
      moved = true;
      const auto [pid, command] = packets_.front();
      packets_.pop_front();
      auto it = steps_.find(pid);
      if (it != steps_.end() && !it->second->dead && it->second->machine) {
        Step& s = *it->second;
        in_step(s, [&, &command = command] { s.machine->receive(command, now); });
      }
    }
    return moved;
  }
  bool finish_trees() {
    bool moved = false;
    for (auto& [pid, s] : steps_) {
      if (s->dead || !s->killed || !s->machine || s->machine->finished()) continue;
      moved = true;
      s->killed = s->runs = false;
      in_step(*s, [&, &s = s] { s->machine->tree_gone({}, false, now); });
    }
    return moved;
  }
  bool tell_answers() {
    bool moved = false;
    while (!answers_.empty() && daemon_alive_) {
      moved = true;
      const auto [key, opened] = answers_.front();
      answers_.pop_front();
      guard([&, key = key, opened = opened] {
        if (opened)
          supervisors_->opened(key, now);
        else
          supervisors_->closed(key, now);
      });
    }
    return moved;
  }

  void send(FromNode message) override {
    if (const auto* h = std::get_if<Heartbeat>(&message.body)) last_heartbeat = h->sequence;
    sent.push_back(std::move(message));
  }
  Result<UserIdentity> find(UserId uid, GroupId gid) override {
    if (uid == UserId(404)) return fail(ErrorCode::not_found, "no such user");
    return UserIdentity{"user", gid, {gid}, "/", "/bin/sh"};
  }

  std::unique_ptr<VirtualSpool> spool_;
  std::unique_ptr<NodeAgent> agent_;
  std::unique_ptr<Supervisors> supervisors_;
  bool daemon_alive_ = true;
  int boots_ = 1;
  int last_pid_ = 100;
  std::map<int, std::unique_ptr<Step>> steps_;
  std::map<AttemptKey, int> channels_;
  std::deque<std::pair<AttemptKey, int>> to_start_;
  std::deque<std::pair<AttemptKey, StepNotice>> notices_;
  std::deque<std::pair<int, StepCommand>> packets_;
  std::deque<std::pair<AttemptKey, bool>> answers_;
};

inline const AttemptKey kKey{{JobId(12), TaskIndex{}}, AttemptNo(1)};

inline Prepare make_prepare(World& world, const AttemptKey& key = kKey, Fence fence = Fence(50)) {
  auto job = std::make_shared<JobSpec>();
  job->name = "test";
  job->uid = UserId(1000);
  job->gid = GroupId(100);
  Prepare prepare;
  prepare.launch.attempt = key;
  prepare.launch.fence = fence;
  prepare.launch.own_id = key.job.job;
  prepare.launch.spec = job;
  prepare.launch.cluster_name = "c";
  prepare.launch.node_name = "n1";
  prepare.launch.layout = std::make_shared<const NodeLayout>(
      std::vector<std::string>{"n1"}, std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{1});
  prepare.launch.share.incarnation = world.agent().incarnation();
  prepare.launch.kill_wait = Seconds(30);
  prepare.script = std::make_shared<std::string>("#!/bin/sh\n");
  return prepare;
}

// The messages of one kind that the agent has sent, in order.
template <class Body>
std::vector<Body> sent(const World& world) {
  std::vector<Body> result;
  for (const FromNode& message : world.sent)
    if (const auto* body = std::get_if<Body>(&message.body)) result.push_back(*body);
  return result;
}

}  // namespace ares::node
