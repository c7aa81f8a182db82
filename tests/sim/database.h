// Database: the server with the durable state, and DatabaseLink, a controller's connection to it (a
// store::Journal). Rows are kept from the images of the batches, the journal is replayed beside
// them, and the two are compared. Owned by the World (a link by its controller); one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/engine/state.h"
#include "sim/stage.h"
#include "store/journal/high_water.h"
#include "store/journal/journal.h"

namespace ares::sim {

class Database {
 public:
  explicit Database(Stage& stage);

  // All connections break; what was not committed is lost.
  void stop();
  void start();
  bool up() const { return up_; }
  // Only this controller cannot reach the database; none: all controllers can.
  void cut_off(std::optional<Life> controller);

  // No room: reads are answered, commits are refused.
  void set_full(bool full);

  // Probability that a connection breaks during a commit, in thousandths.
  void set_doubt(unsigned per_mille) { doubt_ = per_mille; }

  // Everything durable. A copy is a backup.
  struct Contents {
    Epoch epoch;
    std::map<Lsn, std::shared_ptr<const Event>> events;
    ClusterState rows;
    ClusterState replayed;
    std::map<AttemptKey, Attempt> attempts;
    std::map<BlobId, std::shared_ptr<const std::string>> blobs;
    std::map<JobKey, JobState> last_states;
    std::set<AttemptKey> started, fenced;
    std::uint64_t submissions = 0;
  };
  Contents contents() const { return held_; }
  // In place of what is there. No controller is connected.
  void restore(Contents backup);

  Lsn lsn() const { return held_.rows.lsn; }
  Epoch epoch() const { return held_.epoch; }
  // Null after an accepted rollback, which leaves positions out.
  const Event* event(Lsn lsn) const {
    const auto found = held_.events.find(lsn);
    return found == held_.events.end() ? nullptr : found->second.get();
  }
  const std::map<Lsn, std::shared_ptr<const Event>>& events() const { return held_.events; }
  // The journal from its beginning, applied by apply().
  const ClusterState& replayed() const { return held_.replayed; }
  const std::map<AttemptKey, Attempt>& attempts() const { return held_.attempts; }
  const std::map<JobKey, JobState>& last_states() const { return held_.last_states; }
  bool started(const AttemptKey& key) const { return held_.started.contains(key); }
  bool fenced(const AttemptKey& key) const { return held_.fenced.contains(key); }
  std::uint64_t submissions() const { return held_.submissions; }

  // The rows that a controller loads.
  ClusterState load() const;
  void compare_rows() const;

 private:
  friend class DatabaseLink;
  void write(const store::Batch& batch);
  void remember(const Event& event);

  Stage& stage_;
  bool up_ = true;
  bool full_ = false;
  std::uint32_t generation_ = 0;  // of connections
  unsigned doubt_ = 0;
  std::optional<Life> cut_off_;
  Life holder_;  // the controller that took the last epoch by open()
  Contents held_;
};

// What a controller compares a database with before it takes it, as PgOptions has it.
struct Acceptance {
  std::optional<store::HighWaterMark> seen;
  bool accept_rollback = false;
};

class DatabaseLink final : public store::Journal {
 public:
  DatabaseLink(Database& database, Life controller, Acceptance acceptance)
      : db_(database), process_(controller), acceptance_(std::move(acceptance)) {}

  Result<store::Opened> open() override;
  Result<store::Opened> reopen() override;
  Result<store::CommitOutcome> commit(const store::Batch& batch) override;
  Result<bool> contains(Lsn lsn) override;
  Result<std::shared_ptr<const std::string>> blob(const BlobId& id) override;
  Result<std::string> secret() override;

 private:
  Result<store::Opened> take_epoch();
  Status check_mark();
  void boundary();
  bool reachable() const { return db_.up_ && db_.cut_off_ != process_; }
  bool connected() const { return reachable() && generation_ == db_.generation_; }

  Database& db_;
  Life process_;
  Acceptance acceptance_;
  std::uint32_t generation_ = ~0u;
  Epoch epoch_;
};

}  // namespace ares::sim
