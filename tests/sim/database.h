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

  // Probability that a connection breaks during a commit, in thousandths.
  void set_doubt(unsigned per_mille) { doubt_ = per_mille; }

  Lsn lsn() const { return Lsn(events_.size()); }
  Epoch epoch() const { return epoch_; }
  const Event& event(Lsn lsn) const { return *events_[lsn.value() - 1]; }
  // The journal from its beginning, applied by apply().
  const ClusterState& replayed() const { return replayed_; }
  const std::map<AttemptKey, Attempt>& attempts() const { return attempts_; }
  const std::map<JobKey, JobState>& last_states() const { return last_states_; }
  bool started(const AttemptKey& key) const { return started_.contains(key); }
  bool fenced(const AttemptKey& key) const { return fenced_.contains(key); }
  std::uint64_t submissions() const { return submissions_; }

  // The rows that a controller loads.
  ClusterState load() const;
  void compare_rows() const;

 private:
  friend class DatabaseLink;
  void write(const store::Batch& batch);
  void remember(const Event& event);

  Stage& stage_;
  bool up_ = true;
  std::uint32_t generation_ = 0;  // of connections
  unsigned doubt_ = 0;
  Epoch epoch_;
  std::optional<Life> cut_off_;
  Life holder_;  // the controller that took the last epoch by open()
  std::vector<std::shared_ptr<const Event>> events_;
  ClusterState rows_;
  ClusterState replayed_;
  std::map<AttemptKey, Attempt> attempts_;
  std::map<BlobId, std::shared_ptr<const std::string>> blobs_;
  std::map<JobKey, JobState> last_states_;
  std::set<AttemptKey> started_, fenced_;
  std::uint64_t submissions_ = 0;
};

class DatabaseLink final : public store::Journal {
 public:
  DatabaseLink(Database& database, Life controller) : db_(database), process_(controller) {}

  Result<store::Opened> open() override;
  Result<store::Opened> reopen() override;
  Result<store::CommitOutcome> commit(const store::Batch& batch) override;
  Result<bool> contains(Lsn lsn) override;
  Result<std::shared_ptr<const std::string>> blob(const BlobId& id) override;

 private:
  Result<store::Opened> take_epoch();
  void boundary();
  bool reachable() const { return db_.up_ && db_.cut_off_ != process_; }
  bool connected() const { return reachable() && generation_ == db_.generation_; }

  Database& db_;
  Life process_;
  std::uint32_t generation_ = ~0u;
  Epoch epoch_;
};

}  // namespace ares::sim
