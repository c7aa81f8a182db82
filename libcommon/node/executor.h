// Executor: whoever runs attempts on behalf of a node (exec plugins; supervisors in a simulation),
// as the node agent sees it. Owned by the composition root; called on the agent's thread only.
// Every call is idempotent and returns without waiting.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/engine/node_message.h"
#include "node/moment.h"
#include "node/step_spec.h"

namespace ares::node {

class ExecutorEvents {
 public:
  virtual ~ExecutorEvents() = default;
  // Where the attempt stands now. May repeat, may come from within a call to the executor.
  virtual void attempt_changed(const AttemptReport& report, Moment now) = 0;
  // It could not be started, no user code has run and none will.
  virtual void launch_failed(const AttemptKey& key, Fence fence, bool node_fault,
                             const std::string& cause, Moment now) = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Brings the task to its gate. The attempt's spec, script, environment and intent are in the
  // spool already. Error: it could not even be tried; not_found and permission_denied are the job's
  // fault, all else the node's.
  virtual Status launch(const StepSpec& spec, Moment now) = 0;
  virtual void go(const Go& go, std::optional<BootTime> lease_until, Moment now) = 0;
  // An end (done, never_ran or lost) is reported sooner or later, also for an attempt of which only
  // the intent exists.
  virtual void kill(const Kill& kill, Moment now) = 0;
  virtual void signal(const Signal& signal, Moment now) = 0;
  virtual void set_limit(const SetLimit& limit, Moment now) = 0;
  // All its processes stand still from now on, or go on. The newest `lsn` counts.
  virtual void set_suspended(const SetSuspended& message, Moment now) = 0;
  virtual void renew_lease(const AttemptKey& key, BootTime until, Moment now) = 0;
  // The end is committed by the controller: whatever the executor keeps of the attempt may go. The
  // spool directory is the agent's.
  virtual void release(const AttemptKey& key, Moment now) = 0;
  // Everything that exists from before a restart of this process. Also takes up watching it.
  virtual std::vector<AttemptReport> list(Moment now) = 0;
};

}  // namespace ares::node
