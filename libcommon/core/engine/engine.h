// Engine: the only writer of the state. Decides and applies commands; output waits for the commit.
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

// Identifies a waiting caller; chosen by the code that passes the command in. 0 = no caller waits.
using Ticket = std::uint64_t;

struct Reply {
  Ticket ticket = 0;
  bool failed = false;
  Error error;
  std::vector<JobKey> jobs;
  std::string text;
  bool repeated = false;  // the command had been carried out before; nothing was done now
};

// All events since the last batch, and the state after them. The store commits them at once.
struct EngineBatch {
  Lsn first, last;
  std::vector<std::shared_ptr<const Event>> events;
  std::vector<Blob> blobs;
  std::vector<Attempt> attempts;  // changed accounting rows, as of the end of the batch
  ClusterState before, after;     // snapshots; the store reads changed records from `after`
};

// A node has heard of a later position than the state has: the database is an older copy, or
// another controller has taken over.
struct Objection {
  JournalPosition heard;
  std::string why;  // and what the administrator can do
};

// Output that may be sent once a batch has committed.
struct Outgoing {
  std::vector<Reply> replies;
  Effects effects;
  std::vector<Notice> notices;                   // for mail; not repeated if lost
  std::shared_ptr<const ClusterState> snapshot;  // publish it before sending the replies
};

// Limits of work in one step. A command is never split, whatever its size.
struct Bounds {
  std::size_t batch_events = 500;
  std::size_t batch_blob_bytes = 16 << 20;
  // Events of dependency notifications that are added to one command.
  std::size_t notification_events = 100;
  std::size_t notification_records = 10'000;  // records evaluated for them; at least 2
};

class Engine {
 public:
  // `recovered`: the state from the journal, with the epoch already taken. First command: Activate.
  Engine(ClusterState recovered, std::shared_ptr<const Policy> policy, Bounds bounds = {});

  // Whether Activate was accepted. All commands before it are refused.
  bool active() const { return active_; }

  // None: nothing speaks against this state. Else nothing more is decided, committed or
  // acknowledged, until another process starts on another state: what was not committed is dropped,
  // and every command is answered with the objection.
  const std::optional<Objection>& objection() const { return objection_; }

  // Decides and applies one command. `now`: the caller's clock, raised to state().now if earlier.
  void handle(const Command& command, Time now, Ticket ticket);

  // Whether the caller should take the batch before it passes in more commands.
  bool full() const;

  // Whether notifications of dependents are left; then call continue_notifications() in each batch.
  bool has_notifications() const { return !notifications_.empty(); }
  void continue_notifications(Time now);

  // Whether events wait to be committed. Output without events (a refusal, a repeated request, an
  // answer to a heartbeat) comes from take_ready(), or with the batch to keep the order.
  bool has_batch() const;

  // All events since the last call. One batch may be in flight: call committed() before the next.
  EngineBatch take_batch();

  // The last batch taken is durable: returns the output that waited for it.
  Outgoing committed();

  // Replies and effects that depend on nothing uncommitted; empty while a batch is in flight or
  // events wait. The snapshot is the last committed one.
  Outgoing take_ready();

  const ClusterState& state() const { return state_; }
  // The policy in force: the first one, or that of the last Reconfigure.
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
  std::deque<DependencyNotification> notifications_;  // first in, first out
  std::vector<std::shared_ptr<const Event>> events_;
  std::vector<Blob> blobs_;
  std::size_t blob_bytes_ = 0;
  std::set<JobKey> touched_;  // jobs whose accounting rows the batch writes
  // Final rows of attempts whose data is no longer in the record.
  std::map<AttemptKey, Attempt> finished_;
  std::vector<Reply> replies_;
  Effects effects_;
  std::vector<Notice> notices_;
  std::optional<Outgoing> in_flight_;
  std::shared_ptr<const ClusterState> committed_;
};

}  // namespace ares::core
