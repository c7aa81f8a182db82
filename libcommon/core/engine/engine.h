// Engine: the one writer. Decides commands on its state, applies at once, and lets nothing out before its commit.
// Owned by the controller's engine thread (or the simulator); not thread-safe. Pure: no clock, no I/O, no thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/accounts/limits/usage_totals.h"
#include "core/cluster/heard_position.h"
#include "core/job/effects/notices.h"
#include "core/job/follow/dependency_notifications.h"
#include "model/engine/command.h"
#include "model/engine/effect.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

struct Decision;

// Names one waiting caller; chosen by whoever hands the command in. 0 = nobody waits.
using Ticket = std::uint64_t;

struct Reply {
  Ticket ticket = 0;
  bool failed = false;
  Error error;
  std::vector<JobKey> jobs;
  std::string text;
  bool repeated = false;  // to a command that had been carried out before: nothing was done now
};

// Everything that changed since the last batch, and the state right after it. The store writes it in one transaction.
struct EngineBatch {
  Lsn first, last;
  std::vector<std::shared_ptr<const Event>> events;
  std::vector<Blob> blobs;
  std::vector<Attempt> attempts;  // accounting rows touched, as of the end of the batch
  ClusterState before, after;     // snapshots: what a record is now is read from `after`
};

// A node has heard of a later position than the state has: the database is an older copy, or another controller has taken over.
struct Objection {
  JournalPosition heard;
  std::string why;  // and what the administrator can do
};

// What may leave once a batch has committed.
struct Outgoing {
  std::vector<Reply> replies;
  Effects effects;
  std::vector<Notice> notices;                   // for mail; what is lost here never comes again
  std::shared_ptr<const ClusterState> snapshot;  // publish it before sending the replies
};

// How much is done at a time. Commands come whole, whatever they change.
struct Bounds {
  std::size_t batch_events = 500;
  std::size_t batch_blob_bytes = 16 << 20;
  std::size_t notification_events =
      100;  // events by which a command goes on telling those who wait
  std::size_t notification_records = 10'000;  // records that are looked at meanwhile; at least 2
};

class Engine {
 public:
  // `recovered` is what the journal holds, with the epoch already taken. The first command must be Activate.
  Engine(ClusterState recovered, std::shared_ptr<const Policy> policy, Bounds bounds = {});

  // Whether Activate was taken: all before it is refused.
  bool active() const { return active_; }

  // None: nothing speaks against this state. Else nothing more is decided, committed or acknowledged, until another process starts on
  // another state: what was not committed is dropped, and every command is answered with the objection.
  const std::optional<Objection>& objection() const { return objection_; }

  // Decides and applies one command. `now` is the caller's clock; an earlier one than already seen is lifted to that.
  void handle(const Command& command, Time now, Ticket ticket);

  // Whether enough events wait that the caller should take the batch before handing in more.
  bool full() const;

  // Whether jobs have still to be told of what they wait for. Then the caller fills what is left of every batch by continue_notifications().
  bool has_notifications() const { return !notifications_.empty(); }
  void continue_notifications(Time now);

  // Whether events wait to be committed. What needs no commit of its own (a refusal, a repeated request, an answer to a heartbeat)
  // comes out of take_ready(), or with the batch whose events it must not overtake.
  bool has_batch() const;

  // All events since the last call. At most one batch is in flight: call committed() before taking the next.
  EngineBatch take_batch();

  // The batch taken last is durable: gives out what waited for it.
  Outgoing committed();

  // Replies and effects that depend on nothing uncommitted (empty while a batch is in flight or events wait). Its snapshot is the
  // one last committed.
  Outgoing take_ready();

  const ClusterState& state() const { return state_; }
  // In force: the first one, or that of the last Reconfigure.
  const std::shared_ptr<const Policy>& policy() const { return policy_; }

 private:
  void commit_event(EventBody body, Time at);
  void follow_from(std::size_t first_event, Time at);
  void process_notifications(std::size_t events, Time at);
  void save_row(const JobKey& key);
  std::optional<Objection> objection_of(const Command& command) const;
  void object(Objection objection);
  void send(const Command& command, Decision& decision, std::size_t first_effect);
  void queue_effects(const Command& command, Decision& decision, std::size_t first_effect);

  ClusterState state_;
  UsageTotals sums_;
  ClusterState batch_base_;
  std::shared_ptr<const Policy> policy_;
  const Bounds bounds_;
  bool active_ = false;
  const Recovered recovered_;
  std::optional<Objection> objection_;
  std::deque<DependencyNotification> notifications_;  // first come, first told
  std::vector<std::shared_ptr<const Event>> events_;
  std::vector<Blob> blobs_;
  std::size_t blob_bytes_ = 0;
  std::set<JobKey> touched_;  // jobs whose accounting row the batch writes
  std::map<AttemptKey, Attempt>
      finished_;  // rows of attempts that the record itself has left behind
  std::vector<Reply> replies_;
  Effects effects_;
  std::vector<Notice> notices_;
  std::optional<Outgoing> in_flight_;
  std::shared_ptr<const ClusterState> committed_;
};

}  // namespace ares::core
