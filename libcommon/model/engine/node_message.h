// What the controller and a node daemon say to each other, and what aresd and its supervisors record.
// Plain data; converted to protobuf only at the edge (proto/). Every message may arrive twice, late or never.
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

namespace ares {

// --- controller to node; each names the node it is for and the epoch of its sender ---------------------------------------------

// Everything a node needs to run its share of an attempt. Sent until the node answers Ready, LaunchFailed or Ended.
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
  bool leased = false;  // as the share: the supervisor enforces a lease
  Seconds kill_wait{30};
};

struct Prepare {
  LaunchSpec launch;
  // Filled by the sender from the blob store just before it goes out; never part of state.
  std::shared_ptr<const std::string> script;
  std::shared_ptr<const std::string> environment;
};
struct Go {  // Started has committed: run user code
  AttemptKey attempt;
  Fence fence;
};
struct
    Kill {  // end it (TERM, kill_wait, KILL), or refuse it if it never arrived; leaves a tombstone. Answer: Ended
  AttemptKey attempt;
  Fence fence;
  bool immediately = false;        // KILL at once
  std::optional<Seconds> grace{};  // in place of kill_wait
};
struct Signal {
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;  // the node remembers the last one applied
  std::int32_t signal = 0;
  bool batch_only = false;
};
struct SetLimit {
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;
  std::optional<Seconds> time_limit;  // counted from Go; none = unlimited
};
struct SetSuspended {  // all its processes stand still, or go on; the node keeps the newest
  AttemptKey attempt;
  Fence fence;
  Lsn lsn;
  bool suspended = false;
  Seconds grace{};  // from SIGTSTP to SIGSTOP, where nothing stops them without their knowing
};
struct Forget {  // the end is committed: remove the attempt's directory
  AttemptKey attempt;
  Fence fence;
};
struct Welcome {  // answer to Register, after its commit
  std::uint64_t incarnation = 0;
  Seconds lease{300};
  Seconds heartbeat{10};
};
struct HeartbeatAck {
  std::uint64_t sequence = 0;
};
struct
    Refused {  // this node may not serve (two of one name, smaller than configured, stale epoch): text for its log
  std::string why;
};

using ToNodeBody = std::variant<Prepare, Go, Kill, Signal, SetLimit, Forget, Welcome, HeartbeatAck,
                                Refused, SetSuspended>;
struct ToNode {
  std::string node;
  Epoch epoch;
  ToNodeBody body;
  std::optional<JournalPosition> position{};  // with Welcome and HeartbeatAck: the last commit
};

// --- node to controller -------------------------------------------------------------------------------------------------------

// Where an attempt stands on a node: the summary of its records (node/records.h).
enum class AttemptPhase : std::uint8_t {
  accepted,   // intent on disk, no supervisor yet
  ready,      // supervisor alive, task waits at the gate
  running,    // go on disk
  done,       // exit on disk
  never_ran,  // gone before go: user code provably never ran
  lost,       // go on disk, supervisor gone, no exit: may have run, end unknown
};

struct AttemptReport {
  AttemptKey attempt;
  Fence fence;
  AttemptPhase phase = AttemptPhase::accepted;
  std::optional<Time> ran_since;  // wall time of go
  std::optional<Time> ended_at;
  ExitStatus exit;
  Usage usage;
  std::string detail;  // for lost and never_ran: why
  friend bool operator==(const AttemptReport&, const AttemptReport&) = default;
};

struct Register {
  std::string name;
  std::string incarnation_tag;  // spool UUID + boot id: unchanged over a restart of aresd
  std::uint64_t incarnation =
      0;  // counter kept in the spool, grows when the boot id changes or the spool is new
  Inventory inventory;
  bool can_freeze = false;
  std::string version;
  Epoch highest_epoch;                  // seen so far: an older controller is refused
  Lsn highest_lsn;                      // highest position heard of: an older database is noticed
  std::vector<AttemptReport> attempts;  // everything in the spool
  JournalPosition position{};           // the last one that a controller told
};
struct Heartbeat {
  std::uint64_t sequence = 0;
  std::vector<AttemptReport>
      attempts;  // those whose last report the controller has not settled yet, and phases of the others
};
struct Progress {  // Ready, Running, Done, NeverRan, Lost as they happen: an AttemptReport
  AttemptReport report;
};
struct
    LaunchRefused {  // the node could not prepare: no user code has run and none will for this fence
  AttemptKey attempt;
  Fence fence;
  bool node_fault =
      false;  // spool full, plugin broken; false = the job's fault (no such user, no such directory)
  std::string cause;
};

using FromNodeBody = std::variant<Register, Heartbeat, Progress, LaunchRefused>;
struct FromNode {
  std::string node;
  std::uint64_t incarnation = 0;
  FromNodeBody body;
};

}  // namespace ares
