// Supervisors: the executor that runs each attempt under its own aresstepd process and trusts only
// the attempt's records. Owned by the baremetal plugin (or a simulation), used on one thread. Does
// no I/O: processes and channels are behind StepTransport.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/executor.h"
#include "node/records.h"
#include "node/step_message.h"

namespace ares::node {

// What is left of an attempt whose supervisor has died.
struct Remains {
  enum State : std::uint8_t {
    none,     // no process, and that is proven
    dying,    // processes that were killed and have not exited yet
    unknown,  // maybe processes; this node cannot tell
  };
  State state = none;
  std::string advice;  // unless none: what an operator can do about it
};

// Starts supervisors and talks to them. Answers arrive in Supervisors::opened, noticed and
// closed, never from within a call.
class StepTransport {
 public:
  virtual ~StepTransport() = default;
  // Starts a supervisor process for the attempt's directory; its channel counts as open. Starting
  // two is harmless: only one is elected.
  virtual Status spawn(const AttemptKey& key) = 0;
  // Tries to open a channel to the running supervisor; opened() or closed() follows.
  virtual void connect(const AttemptKey& key) = 0;
  // Dropped silently when the channel has just broken; closed() follows.
  virtual void send(const AttemptKey& key, const StepCommand& command) = 0;
  // Closes the channel and drops all state of the attempt.
  virtual void drop(const AttemptKey& key) = 0;
  // Kills processes left behind by a dead supervisor and says what is left. Does not wait; may be
  // called again.
  virtual Remains sweep(const AttemptKey& key) = 0;
};

class Supervisors : public Executor {
 public:
  Supervisors(Spool& spool, StepTransport& transport, ExecutorEvents& events, std::string boot_id);

  Status launch(const StepSpec& spec, Moment now) override;
  void go(const Go& go, std::optional<BootTime> lease_until, Moment now) override;
  void kill(const Kill& kill, Moment now) override;
  void signal(const Signal& signal, Moment now) override;
  void set_limit(const SetLimit& limit, Moment now) override;
  void set_suspended(const SetSuspended& message, Moment now) override;
  void checkpoint_known(const CheckpointKnown& message, Moment now) override;
  void renew_lease(const AttemptKey& key, BootTime until, Moment now) override;
  void release(const AttemptKey& key, Moment now) override;
  std::vector<AttemptReport> list(Moment now) override;

  void opened(const AttemptKey& key, Moment now);
  void noticed(const AttemptKey& key, StepNotice notice, Moment now);
  void closed(const AttemptKey& key, Moment now);

  void tick(Moment now);
  std::optional<BootTime> next_deadline() const;

 private:
  enum class Channel { none, opening, open };
  struct WatchedAttempt {
    Fence fence;
    Channel channel = Channel::none;
    std::vector<StepCommand> waiting;  // until the channel opens
    std::optional<BootTime> check_at;  // look at the records again
    std::uint32_t tries = 0;           // channels that closed before the attempt was decided
    std::optional<Kill> kill;          // requested and not yet effective
    std::optional<AttemptReport> last;
    std::optional<BootTime> lost_since;  // the supervisor has died, and processes may be left
  };

  void send_or_queue(const AttemptKey& key, StepCommand command, Moment now);
  void check_records(const AttemptKey& key, Moment now, bool paused = false,
                     bool end_is_synced = false);
  void clear_away(const AttemptKey& key, WatchedAttempt& watched, AttemptReport& report,
                  Moment now);
  void try_again(const AttemptKey& key, WatchedAttempt& watched, const AttemptReport& report,
                 Moment now, bool paused);

  Spool& spool_;
  StepTransport& transport_;
  ExecutorEvents& events_;
  std::string boot_id_;
  std::map<AttemptKey, WatchedAttempt> watched_;
};

}  // namespace ares::node
