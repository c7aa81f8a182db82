// NodeAgent: state machine of aresd for one node. Answers the controller from the spool's records,
// renews leases, and reports attempts until the controller sends Forget. Owned by aresd's agent
// thread (or a simulation). Does no I/O: disk, processes, users and network are behind interfaces.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster/cpu_layout.h"
#include "model/engine/node_message.h"
#include "node/executor.h"
#include "node/idle_gpus.h"
#include "node/moment.h"
#include "node/records.h"
#include "node/step_spec.h"

namespace ares::node {

// Sends messages to the controller. The messages of one session arrive in order or not at all; a
// session may end at any time.
//
// The agent also relies on the order of messages from the controller: all effects caused by a
// heartbeat (above all Kill for attempts that were fenced) must be sent before that heartbeat's
// acknowledgement, because the acknowledgement thaws frozen attempts.
class Uplink {
 public:
  virtual ~Uplink() = default;
  virtual void send(FromNode message) = 0;  // dropped silently when the session has just ended
};

struct AgentSetup {
  std::string name;
  Inventory inventory;
  bool can_freeze = false;
  std::string version;
  std::string boot_id;
  std::string fresh_uuid;                   // used if the spool is new
  std::string enforced;                     // what the kernel holds jobs to; empty = not known
  std::uint64_t max_processes_per_cpu = 0;  // of a job, for each of its CPUs; 0 = no limit
  // Device files of each GPU, as the kernel names them: "c 195:0".
  std::map<GpuIndex, std::vector<std::string>> gpu_devices{};
  std::optional<SiteProgram> prolog{}, epilog{};  // that run around each attempt
  std::string task_prolog{};
  std::optional<SiteProgram> task_epilog{};
  std::string pam_service{};
  std::string private_tmp{};    // directory for the /tmp of each job; empty: it is not private
  bool joins = false;           // the controller need not know the node
  std::uint16_t step_port = 0;  // TCP, where it takes steps of other nodes; 0 = it takes none
  // Runs the site's reboot program. An error is what operators should know. Null: there is none.
  std::function<Status()> reboot{};
  CpuLayout cpu_layout{};      // of the machine, less what is set aside; empty = not known
  IntervalSet offered_cpus{};  // empty: none are set aside for the system
  std::map<GpuIndex, IntervalSet> gpu_numa_nodes{};  // nearest to each GPU, as far as known
  // By which name the driver's libraries know each GPU: "MIG-...". Without a name it is the index.
  std::map<GpuIndex, std::string> gpu_names{};
  // Begins to look whether the GPUs are clean; NodeAgent::gpus_looked_at() follows, not from within
  // the call. Null: jobs get them without a look.
  std::function<void()> look_at_gpus{};
  // Passes a signal on to a step of an attempt that runs here. Null: no steps run here.
  std::function<void(const SignalStep&)> signal_step{};
  // How busy the node's machine is; asked for each heartbeat. Null: that is not known.
  std::function<MachineLoad()> load{};
  Seconds allocation_timeout{60};  // of interactive allocations without their command
  bool slurm_variables = true;     // in the environment of jobs
};

class NodeAgent final : public ExecutorEvents {
 public:
  NodeAgent(AgentSetup setup, Spool& spool, Users& users, Uplink& uplink);

  // Reads the spool, increments the incarnation after a reboot and resumes watching attempts. Must
  // be called first. An error means that the spool is unusable. `executor` must outlive the agent.
  Status recover(Executor& executor, Moment now);

  void connected(Moment now);  // a session was established; sends Register
  void disconnected();
  void receive(const ToNode& message, Moment now);
  void tick(Moment now);
  std::optional<BootTime> next_deadline() const;
  // Why the node can run no jobs, found by a health check; empty: it can. The controller is told at
  // once.
  void set_health(std::string unhealthy, Moment now);
  // Of a node whose machine is elsewhere: whether it is gone, so that nothing will tell how its attempts
  // end. The controller is told at once.
  void set_machine_gone(bool gone, Moment now);
  void gpus_looked_at(const GpuLook& look, Moment now);
  // What it offers has changed; registers again.
  void set_inventory(const Inventory& inventory, Moment now);

  void attempt_changed(const AttemptReport& report, Moment now) override;
  void launch_failed(const AttemptKey& key, Fence fence, bool node_fault, const std::string& cause,
                     Moment now) override;

  std::uint64_t incarnation() const { return identity_.incarnation; }
  std::optional<std::string> refused() const {
    return refused_;
  }  // why the controller refused this node
  std::optional<BootTime> lease_until() const { return lease_until_; }
  std::vector<AttemptReport> attempts() const;
  std::vector<AttemptUse> uses() const;  // of those that run

 private:
  struct Entry {
    IntentRecord intent;
    AttemptReport report;
    bool kill_requested = false;
    std::optional<Go> go_requested;        // sent to a leased attempt while no lease was live
    std::optional<LaunchRefused> refusal;  // repeated for a repeated Prepare
    std::vector<GpuIndex> gpus{};
    std::vector<std::uint32_t> cpu_ids{};  // empty: the controller did not choose them
    Lsn last_step_signal{};
    Lsn last_suspend{};         // of the last SetSuspended
    Lsn suspended_by{};         // the last SetSuspended; 0: it was resumed, or never suspended
    BootTime stopping_until{};  // then it has stopped, whatever its supervisor tells
    std::optional<SetSuspended> held_resume{};  // until another attempt has left its CPUs
    bool is_adopted = false;                    // the executor alone keeps its records
  };

  void handle(const Prepare& message, Moment now);
  void handle(const Go& message, Moment now);
  void handle(const Kill& message, Moment now);
  void handle(const Signal& message, Moment now);
  void handle(const SetLimit& message, Moment now);
  void handle(const SetSuspended& message, Moment now);
  void handle(const CheckpointKnown& message, Moment now);
  void handle(const Forget& message, Moment now);
  void handle(const Welcome& message, Moment now);
  void handle(const HeartbeatAck& message, Moment now);
  void handle(const Refused& message, Moment now);
  void handle(const Reboot& message, Moment now);
  void handle(const SignalStep& message, Moment now);

  Status read_identity(Moment now);
  bool save_identity();
  void adopt(const AttemptReport& report, Moment now);
  void restore_attempt(const AttemptKey& key, const AttemptReport* known, Moment now);
  void resend_answer(Entry& entry, Moment now);
  StepSpec step_of(const LaunchSpec& launch, UserIdentity user) const;
  std::vector<std::string> visible_gpus(const std::vector<GpuIndex>& own) const;
  std::vector<IntervalSet> cpus_near_gpus(const std::vector<GpuIndex>& own) const;
  Status write_records(const Prepare& message, const StepSpec& step, const IntentRecord& intent);
  bool supersede(const LaunchSpec& newer, Moment now);  // false: a newer attempt is here already
  Entry* current(const AttemptKey& key, Fence fence);   // null when unknown or of another fence
  void launch(const StepSpec& step, Moment now);
  void note_position(Epoch epoch, Lsn lsn);
  void note_position(const JournalPosition& position);
  bool raise_position(Lsn lsn);
  void note_command(Lsn lsn);
  void mark_cancelled(const AttemptKey& key, Fence fence, const std::string& why, Moment now);
  void refuse(const AttemptKey& key, Fence fence, bool node_fault, const std::string& cause,
              Moment now);
  void progress(const AttemptReport& report);
  void add_steps(Entry& entry) const;
  void heartbeat(Moment now);
  std::string fault() const;  // why no job should start here
  bool is_stopping(const Entry& entry, Moment now) const;
  bool cpus_are_left(const AttemptKey& key, const std::vector<std::uint32_t>& cpu_ids, Moment now);
  void start_held(Moment now);
  bool waits_for_gpus(const Prepare& message, Moment now);
  void look_at_gpus(Moment now);  // if it is time
  void send(FromNodeBody body);

  AgentSetup setup_;
  Spool& spool_;
  Users& users_;
  Uplink& uplink_;
  Executor* executor_ = nullptr;

  NodeIdentity identity_;
  std::string unsaved_;  // why the incarnation of this boot is not in the spool; empty: it is
  std::map<AttemptKey, Entry> attempts_;
  std::map<AttemptKey, Fence> forgotten_;
  std::deque<AttemptKey> forgotten_order_;

  bool connected_ = false;
  bool welcomed_ = false;
  std::optional<std::string> refused_;
  std::string unhealthy_;  // by the health check
  bool machine_gone_ = false;
  Seconds lease_{300};
  Seconds interval_{10};
  std::uint64_t sequence_ = 0;
  std::map<std::uint64_t, BootTime> sent_;  // heartbeats without an answer yet
  std::optional<BootTime> lease_until_;
  std::optional<BootTime> heartbeat_at_;
  bool reboot_ordered_ = false;
  std::string reboot_failed_;  // why
  IdleGpus idle_gpus_;
  // Until their GPUs have been looked at, and suspended attempts have left their CPUs.
  std::map<AttemptKey, Prepare> held_;
  std::optional<BootTime>
      look_at_held_at_{};  // when CPUs that something waits for are left at the latest
};

}  // namespace ares::node
