// Machine: a node's hardware and kernel: disk, clock, and the processes on it (one aresd, and a
// supervisor and user processes for each attempt). Owned by the World; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/node_message.h"
#include "model/job/job.h"
#include "sim/clock.h"
#include "sim/disk.h"
#include "sim/stage.h"

namespace ares::sim {

class Network;
class NodeDaemon;
class StepProcess;

// The user's code and its behaviour.
struct Program {
  Duration runs{};
  std::int32_t exit_code = 0;
  bool ignores_term = false;
};
// A job carries its program in the arguments of its script.
std::vector<std::string> to_arguments(const Program& program);
Program program_of(const JobSpec& spec);

struct UserTree {
  Life supervisor;
  Fence fence;
  Program program;
  std::uint32_t cpus = 0;
  bool holds = false;    // not the script's: steps of the job may run here until it is killed
  bool running = false;  // its gate is open
  bool frozen = false;
  Instant ends_at{};
  Duration left{};         // while frozen
  std::uint64_t plan = 0;  // of the end: events of an older plan are ignored
};

class Machine {
 public:
  struct Traits {
    std::string name;
    std::uint32_t cpus = 4;
    bool can_freeze = true;       // and its process trees die with their supervisor
    bool trial_may_fail = false;  // aresd may find at a start that it cannot freeze
  };

  Machine(Stage& stage, Network& network, std::uint32_t index, Traits traits);
  ~Machine();

  void start_aresd();
  void kill_aresd();
  void kill_step(Life life);
  bool kill_some_step();
  void kill_fork_server(Life life);
  void kill_fork_server();  // the one that gets new requests
  void stop_fork_server(Instant until);
  void lose_power();  // all processes die and unsynced data is lost; power_on() begins a new boot
  void power_on();
  void pause(Instant until);
  // Ends this process of the machine, of any kind; false if it is not one of this machine's.
  bool end_life(Life life);

  bool powered() const { return powered_; }
  bool idle() const { return steps_.empty() && trees_.empty(); }
  NodeDaemon* aresd() { return aresd_.get(); }
  node::Moment moment() const { return clock_.moment(stage_.now()); }
  const std::string& name() const { return traits_.name; }
  const Traits& traits() const { return traits_; }
  const std::string& boot_id() const { return boot_id_; }
  std::uint32_t index() const { return index_; }
  Clock& clock() { return clock_; }
  Disk& disk() { return disk_; }
  Stage& stage() { return stage_; }
  Network& network() { return network_; }
  DiskClient disk_client(Actor actor, Life process) {
    return {&stage_.boundaries, actor, process, index_};
  }

  // --- kernel interface of the processes ---
  // Asks the fork server of aresd, or starts the program if there is none.
  Life spawn_step(const AttemptKey& key, Life parent);
  StepProcess* step_of(const AttemptKey& key);  // the supervisor that holds the lock
  StepProcess* find_step(Life life);
  void step_exits(Life life);

  void spawn_gated(const LaunchSpec& launch, Life supervisor, Program program);
  void open_gate(const AttemptKey& key);
  void signal_tree(const AttemptKey& key, std::int32_t signal);
  bool freeze(const AttemptKey& key);
  void thaw(const AttemptKey& key);
  void kill_tree(const AttemptKey& key);

 private:
  // The process of aresstepd that forks supervisors. It outlives its aresd until it has served what it
  // was sent.
  struct ForkServer {
    Life life;
    Life aresd;
    std::vector<Life> requests;  // supervisors that were asked for and do not exist yet
  };

  ForkServer* fork_server_of(Life aresd);
  void start_fork_server(Life aresd);
  void ask_fork_server(ForkServer& server, Life step);
  void serve(Life server, Life step);
  void start_step(Life step);
  void hold_still(const AttemptKey& key, UserTree& tree);
  void plan_end(const AttemptKey& key, UserTree& tree, Instant at, ExitStatus exit);
  void supervisor_died(Life life);
  void start_aresd_soon();

  Stage& stage_;
  Network& network_;
  std::uint32_t index_;
  Traits traits_;
  Clock clock_;
  Disk disk_;
  Life life_;  // of the kernel: from power on to power loss
  bool powered_ = true;
  std::uint32_t boots_ = 1;
  std::string boot_id_ = "boot-1";
  std::unique_ptr<NodeDaemon> aresd_;
  std::vector<ForkServer> fork_servers_;
  std::vector<std::unique_ptr<StepProcess>> steps_;  // also those that a fork server is asked for
  std::map<AttemptKey, UserTree> trees_;
};

}  // namespace ares::sim
