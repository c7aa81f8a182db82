// Executor: runs the attempts of a node (exec plugins; supervisors in a simulation), as the node
// agent sees it. Owned by the composition root; called on the agent's thread only.
// Every call is idempotent and does not block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/engine/node_message.h"
#include "node/moment.h"
#include "node/step_spec.h"

namespace ares::node {

// A part of what an attempt has printed, where no file gets it.
struct OutputPart {
  AttemptKey attempt;
  Fence fence;
  std::uint64_t offset = 0;  // of the first byte
  std::string_view data;     // empty: asks how much is stored
  bool ended = false;        // nothing follows
};
// What the controller has stored of it.
struct OutputStored {
  AttemptKey attempt;
  Fence fence;
  std::uint64_t size = 0;
  bool ended = false;
};

class ExecutorEvents {
 public:
  virtual ~ExecutorEvents() = default;
  // The current state of the attempt. May repeat, and may come from within a call to the executor.
  virtual void attempt_changed(const AttemptReport& report, Moment now) = 0;
  // The attempt could not be started: no user code has run and none will.
  virtual void launch_failed(const AttemptKey& key, Fence fence, bool node_fault,
                             const std::string& cause, Moment now) = 0;
  // output_stored() follows, or nothing if the part was lost on its way.
  virtual void output(const OutputPart&) {}
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Starts the task up to its gate; go() lets user code run. The attempt's spec, script,
  // environment and intent are already in the spool. An error means that nothing was tried;
  // not_found and permission_denied are the job's fault, all other errors the node's.
  virtual Status launch(const StepSpec& spec, Moment now) = 0;
  virtual void go(const Go& go, std::optional<BootTime> lease_until, Moment now) = 0;
  // An end (done, never_ran or lost) is always reported eventually, even for an attempt that has
  // only an intent.
  virtual void kill(const Kill& kill, Moment now) = 0;
  // The controller does not wait for the end of an attempt that was killed. One whose machine is gone
  // is reported as lost.
  virtual void give_up(const Kill&, Moment) {}
  virtual void signal(const Signal& signal, Moment now) = 0;
  virtual void set_limit(const SetLimit& limit, Moment now) = 0;
  // Stops or resumes all processes of the attempt. Only the message with the newest `lsn` counts.
  virtual void set_suspended(const SetSuspended& message, Moment now) = 0;
  virtual void renew_lease(const AttemptKey& key, BootTime until, Moment now) = 0;
  // Whether reports tell which suspension has stopped the processes. Elsewhere they count as stopped at once.
  virtual bool tells_stopped() const { return false; }
  // The controller has committed the end: the executor may drop all that it keeps of the attempt.
  // The spool directory belongs to the agent.
  virtual void release(const AttemptKey& key, Moment now) = 0;
  // The controller has committed checkpoints of the attempt. Ignored where nothing publishes any.
  virtual void checkpoint_known(const CheckpointKnown&, Moment) {}
  virtual void output_stored(const OutputStored&) {}
  // What a running attempt uses now; none where nothing counts it.
  virtual std::optional<AttemptUse> use_of(const AttemptKey&) { return std::nullopt; }
  // All attempts left by an earlier run of this process. Also starts watching them.
  virtual std::vector<AttemptReport> list(Moment now) = 0;
};

}  // namespace ares::node
