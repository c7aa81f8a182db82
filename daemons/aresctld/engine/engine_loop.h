// EngineLoop: the engine's thread and the journal's thread. Commands that arrive during a commit
// form the next batch (group commit).
// post() may be called from any thread; only the engine thread uses the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "aresctld/engine/clock.h"
#include "aresctld/engine/inbox.h"
#include "base/mutex.h"
#include "base/result.h"
#include "core/cluster/lease_monitor.h"
#include "core/cluster/roll_call.h"
#include "core/engine/engine.h"
#include "model/engine/command.h"
#include "model/policy/policy.h"
#include "store/journal/committer.h"
#include "store/journal/journal.h"

namespace ares::aresctld {

// Position that the database has reached.
struct Committed {
  Epoch epoch;
  Lsn lsn;
  JobId next_job_id;
  NodeId next_node_id;
};

class EngineLoop {
 public:
  struct Sinks {
    std::function<void(std::shared_ptr<const ClusterState>)> publish;
    std::function<void(Effects)> send;  // must not block
    std::function<void(std::vector<core::Notice>)>
        notify{};                                   // must not block; empty: no notices are sent
    std::function<void(const Committed&)> durable;  // after each commit, on the journal thread
    std::function<void(const Error&)> fatal;  // a commit that cannot be resolved; must not return
    std::function<void(const Error* why)>
        database;  // the journal waits for the database, or for room there; null: no longer
    std::function<void(const core::Objection&)>
        object{};  // the engine has stopped for this; again when a node has heard of more; on its thread
    std::function<void()> nodes_heard{};  // the roll call is over, before anything is acknowledged
  };

  // `journal` is open and has returned `recovered`. start() first publishes it, then runs threads.
  EngineLoop(store::Journal& journal, ClusterState recovered, std::shared_ptr<const Policy> policy,
             Clock& clock, Sinks sinks);
  ~EngineLoop();
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;

  void start();

  // Before start(): acknowledges nothing to users and starts no jobs until every node that was ever
  // registered has been heard, or core::kRollCallPatience has passed. Returns how many nodes those
  // are.
  std::size_t hear_nodes_first();

  // If a user has too many commands queued, or nothing can be committed for some time, the reply is
  // `unavailable` at once. A command is dropped if its caller disconnects before the engine handles
  // it.
  void post(PostedCommand posted);
  void post(Command command, OnReply on_reply = {});

  // Why a request of this user and size is refused now; none: accepted. Call it before parsing.
  std::optional<std::string> refusal(UserId user, std::size_t bytes) const;

  // Accepts no more commands, commits those handled, joins. Callers of the others get
  // `unavailable`.
  void stop();

 private:
  // What the journal's thread is to do: commit a batch, or check that the epoch still holds at this
  // position.
  using Order = std::variant<std::shared_ptr<const store::Batch>, Lsn>;
  // Where that order is. One is on its way at a time.
  enum class Handover : std::uint8_t {
    none,         // the engine may give the next one
    waiting,      // the journal's thread has not taken it yet
    in_progress,  // that thread carries it out
    confirmed,    // carried out; the engine's thread has not noticed yet
    abandoned,    // stopped while the database was unreachable: the outcome is not known
    closed,       // the engine's thread has ended, and none follows
  };

  void run_engine();
  void run_journal();
  void hand_over(Order order);
  std::optional<Epoch> commit(store::Committer& committer);  // none: stop this thread
  void database(const Error* why);
  std::optional<std::string> why_nothing_commits() const ARES_REQUIRES(mutex_);
  void drain_inbox();
  bool drain_system_commands();
  std::size_t drain_inbox(std::size_t most);
  void handle_command(PostedCommand posted);
  void drop_abandoned();
  void send_back();
  void release(core::Outgoing outgoing);
  void tick(Time now, bool nodes_heard);
  void begin_usage_period(Time now);
  void defer(core::Outgoing outgoing);
  void hold_or_handle(PostedCommand posted);
  void end_roll_call();
  void object(const core::Objection& objection);
  bool command_waits() const ARES_REQUIRES(mutex_);

  store::Journal& journal_;
  const Epoch first_epoch_;
  core::Engine engine_;                      // engine thread
  core::LeaseMonitor leases_;                // engine thread
  core::RollCall roll_call_;                 // engine thread
  bool calling_roll_ = false;                // engine thread
  std::vector<PostedCommand> held_;          // plans, until the roll call is over; engine thread
  std::optional<JournalPosition> objected_;  // what the last objection named; engine thread
  std::vector<NextOccurrence>
      next_occurrences_;              // of recurring reservations; engine thread, during a tick
  std::optional<Time> usage_period_;  // start of the usage period at the last tick; engine thread
  Clock& clock_;
  Sinks sinks_;
  struct Waiting {
    OnReply on_reply;
    bool repeats = false;
  };
  std::unordered_map<core::Ticket, Waiting> waiting_;  // engine thread
  core::Ticket next_ticket_ = 1;                       // engine thread
  std::vector<core::Outgoing> deferred_;  // engine thread: to be released after the current check
  std::chrono::steady_clock::time_point
      epoch_confirmed_at_{};  // engine thread: this controller held the epoch at this time
  std::chrono::steady_clock::time_point
      handed_over_at_{};  // engine thread: when the current commit or check was handed over

  mutable Mutex mutex_;
  Condition engine_wake_;
  Condition journal_wake_;
  Inbox inbox_ ARES_GUARDED_BY(mutex_);
  Handover handover_ ARES_GUARDED_BY(mutex_) = Handover::none;
  Order order_ ARES_GUARDED_BY(mutex_);  // while it is `waiting`
  std::optional<Epoch> new_epoch_ ARES_GUARDED_BY(mutex_);
  bool stopping_ ARES_GUARDED_BY(mutex_) = false;
  std::optional<std::chrono::steady_clock::time_point> nothing_commits_since_
      ARES_GUARDED_BY(mutex_);
  std::string nothing_commits_why_ ARES_GUARDED_BY(mutex_);
  std::thread engine_thread_;
  std::thread journal_thread_;
};

}  // namespace ares::aresctld
