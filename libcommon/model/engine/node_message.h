// Messages between controller and aresd, and what aresd and its supervisors record of attempts.
// Plain data; converted to protobuf only in proto/. Every message may arrive twice, late or never.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/cluster/node_layout.h"
#include "model/cluster/resources.h"
#include "model/engine/journal_position.h"
#include "model/job/job.h"
#include "model/job/step_record.h"

namespace ares {

// --- controller to node; each has the destination node and the sender's epoch -------------------------------------------------

// Everything for a node's share of an attempt. Sent until the node answers ready, refused or ended.
struct LaunchSpec {
  AttemptKey attempt;
  Fence fence;
  JobId own_id;
  std::shared_ptr<const JobSpec> spec;
  std::string cluster_name;
  std::string node_name;   // this node
  std::uint32_t rank = 0;  // of this node in the allocation; 0 runs the script
  std::shared_ptr<const NodeLayout> layout = std::make_shared<const NodeLayout>();
  NodeShare share;                     // of this node
  std::vector<std::string> gpu_types;  // of share.gpus, same order
  std::string partition;
  std::optional<Seconds> time_limit;
  std::uint32_t restarts = 0;
  std::optional<std::uint32_t> array_count, array_min, array_max, array_step;
  bool leased = false;  // same as in the share: the supervisor enforces a lease
  Seconds kill_wait{30};
  // Of attempts on several nodes, added just before sending, never part of the state: where each node
  // takes steps of other nodes, "HOST:PORT" in rank order, empty if it takes none; and the secret by
  // which the attempt's nodes know each other.
  std::vector<std::string> step_addresses{};
  std::string step_key{};
  // TCP port on the first node that no other attempt there was given, for the tasks to find each other
  // by (MASTER_PORT); 0 = none.
  std::uint16_t master_port = 0;
  // What the job has committed, newest first: it is restored from the first one that verifies.
  std::vector<Checkpoint> checkpoints{};
  // Of the job or its partition, where nodes run jobs in containers; empty = the node's.
  std::string container_image{};
};

struct Prepare {
  LaunchSpec launch;
  // Read from the blob store just before sending; never part of the state.
  std::shared_ptr<const std::string> script;
  std::shared_ptr<const std::string> environment;
};
struct Go {  // Started has committed: user code may run
  AttemptKey attempt;
  Fence fence;
};
// End the attempt (TERM, kill_wait, KILL), or refuse it if it arrives later. Answer: Ended.
struct Kill {
  AttemptKey attempt;
  Fence fence;
  bool immediately = false;        // KILL at once
  std::optional<Seconds> grace{};  // instead of kill_wait
  // The controller does not wait for its end: the job has ended, or runs again. What only waits for a
  // proof that nothing can give may be given up.
  bool given_up = false;
};
struct Signal {
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;  // the node remembers the last one applied
  std::int32_t signal = 0;
  bool batch_only = false;
};
// To one step of the attempt; sent to the first node.
struct SignalStep {
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;  // the node remembers the last one applied
  std::uint32_t step = 0;
  std::int32_t signal = 0;  // 0 = end it: TERM, kill_wait, KILL
  UserId by;                // who asked
};
struct SetLimit {
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;
  std::optional<Seconds> time_limit;  // counted from Go; none = unlimited
};
struct SetSuspended {  // stop or continue all its processes; the node keeps the newest lsn
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;
  bool suspended = false;
  Seconds grace{};  // from SIGTSTP to SIGSTOP, on nodes without a freezer
};
struct Forget {  // the end is committed: remove the attempt's directory
  AttemptKey attempt;
  Fence fence;
};
struct Welcome {  // answer to Register after its commit
  std::uint64_t incarnation = 0;
  Seconds lease{300};
  Seconds heartbeat{10};
};
struct HeartbeatAck {
  std::uint64_t sequence = 0;
};
// This node may not serve (duplicate name, smaller than configured, stale epoch); text for its log.
struct Refused {
  std::string why;
};

// Run the reboot program. Repeated until the node registers with a later incarnation.
struct Reboot {
  std::uint64_t incarnation = 0;  // that is to end
};

// The attempt's checkpoints up to this one are committed; the node need not report them any more.
struct CheckpointKnown {
  AttemptKey attempt;
  Fence fence;
  std::uint64_t sequence = 0;
};

using ToNodeBody = std::variant<Prepare, Go, Kill, Signal, SetLimit, Forget, Welcome, HeartbeatAck,
                                Refused, SetSuspended, Reboot, SignalStep, CheckpointKnown>;
struct ToNode {
  std::string node;
  Epoch epoch;
  ToNodeBody body;
  std::optional<JournalPosition> position{};  // with Welcome and HeartbeatAck: the last commit
};

// --- node to controller -------------------------------------------------------------------------------------------------------

// Phase of an attempt on a node, derived from its records (node/records.h).
enum class AttemptPhase : std::uint8_t {
  accepted,   // intent on disk, supervisor not started yet
  ready,      // supervisor alive, task waits for go
  running,    // go on disk
  done,       // exit on disk
  never_ran,  // ended before go: user code certainly did not run
  lost,       // go on disk, supervisor gone, no exit record: may have run
};

// Whose fault it is that an attempt never ran. Numbers of ares_exec_fault.
enum class LaunchFault : std::uint8_t {
  node,    // counts against it; the job is tried elsewhere
  user,    // the job fails: another try would fail too
  system,  // of something else, such as an operator of Kubernetes: the job is tried again
};
inline constexpr LaunchFault kLastLaunchFault = LaunchFault::system;

struct AttemptReport {
  AttemptKey attempt;
  Fence fence;
  AttemptPhase phase = AttemptPhase::accepted;
  std::optional<Time> ran_since;  // wall time of go
  std::optional<Time> ended_at;
  ExitStatus exit;
  Usage usage;
  std::string detail;  // for lost and never_ran: the reason
  // Why the node must get no more jobs until an operator resumes it, with the end of an attempt:
  // its prolog or epilog failed. Empty: it may.
  std::string node_problem{};
  // With the end, from the first node: its steps, the batch script among them. Empty: it had none.
  std::vector<StepRecord> steps{};
  // Published by the attempt, and not known to be committed; ascending.
  std::vector<Checkpoint> checkpoints{};
  // From the first node, once the attempt has looked at the checkpoints of its job.
  std::optional<Restored> restored{};
  // The newest SetSuspended that has stopped all its processes, for aresd; the controller does not get it.
  Lsn stopped{};
  LaunchFault fault = LaunchFault::node;  // with never_ran
  friend bool operator==(const AttemptReport&, const AttemptReport&) = default;
};

struct Register {
  std::string name;
  std::string incarnation_tag;  // spool UUID + boot id: unchanged by a restart of aresd
  // Counter kept in the spool; grows when the boot id changes or the spool is new.
  std::uint64_t incarnation = 0;
  Inventory inventory;
  bool can_freeze = false;
  std::string version;
  Epoch highest_epoch;                  // highest seen: an older controller is refused
  Lsn highest_lsn;                      // highest position heard of: an older database is noticed
  std::vector<AttemptReport> attempts;  // everything in the spool
  JournalPosition position{};           // the last one that a controller told
  // What the kernel holds jobs to, "cpus,memory", or "none"; empty = not known.
  std::string enforced{};
  std::optional<Time> clock{};  // of the node, when it sent this
  std::string fault{};          // why no job should start there, such as a full disk; empty = none
  bool joins = false;           // no configuration need name it
  std::uint16_t step_port = 0;  // TCP, where it takes steps of other nodes; 0 = it takes none
  bool machine_gone = false;    // so that nothing will tell how its attempts end
};
// What the processes of a running attempt use on this node, as far as the kernel counts it.
struct AttemptUse {
  AttemptKey attempt;
  Usage usage;     // so far; max_rss with the page cache that is charged to the job
  Bytes memory{};  // now
  std::uint32_t processes = 0;
  std::vector<StepRecord> steps{};  // on the first node: those that run, and the last that ended
  friend bool operator==(const AttemptUse&, const AttemptUse&) = default;
};
// How busy the machine of a node is. None: not known.
struct MachineLoad {
  std::optional<std::uint32_t>
      cpu_load{};  // processes that run or wait for the disk, over a minute, in hundredths
  std::optional<Bytes> free_memory{};  // that nothing uses, the page cache neither
  friend bool operator==(const MachineLoad&, const MachineLoad&) = default;
};
struct Heartbeat {
  std::uint64_t sequence = 0;
  // Attempts whose last report the controller has not settled yet, and phases of the others.
  std::vector<AttemptReport> attempts;
  std::vector<AttemptUse> used{};  // for users to look at; no part of the state
  std::optional<Time> clock{};     // as in Register
  std::string fault{};
  bool machine_gone = false;
  MachineLoad load{};  // for users to look at; no part of the state
};
struct Progress {  // Ready, Running, Done, NeverRan or Lost as it happens
  AttemptReport report;
};
// The node could not prepare the attempt: under this fence user code has not run and never will.
struct LaunchRefused {
  AttemptKey attempt;
  Fence fence;
  // Spool full, plugin broken; false = fault of the job (user or directory does not exist).
  bool node_fault = false;
  std::string cause;
};

using FromNodeBody = std::variant<Register, Heartbeat, Progress, LaunchRefused>;
struct FromNode {
  std::string node;
  std::uint64_t incarnation = 0;
  FromNodeBody body;
};

}  // namespace ares
