// HighWater: a small local file with the highest database position seen, to detect that the
// database was replaced by an older copy or by another database of the same name.
// Owned by the controller's journal thread; one file, one process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/engine/journal_position.h"

namespace ares::store {

struct HighWaterMark {
  std::string system;        // Opened::system
  JournalPosition position;  // of the last commit, written before any of it was acknowledged
  NodeId next_node_id;

  // Numbers set aside, on disk before the first of them is given: no event has a position above
  // `reserved_lsn`, and no job the number `reserved_job_id` or a higher one.
  Lsn reserved_lsn;
  JobId reserved_job_id;

  // The machine has stopped since, without a clean end of the controller: the last moments before
  // may be missing.
  bool may_lack_last_moments = false;

  friend bool operator==(const HighWaterMark&, const HighWaterMark&) = default;
};

// With room for `ids` jobs above it.
HighWaterMark with_reserve(HighWaterMark mark, std::uint64_t ids);

// Job numbers set aside at a time: a controller that submits 20,000 jobs a second waits for the
// disk twice in it.
inline constexpr std::uint64_t kReservedIds = 10'000;

// The mark after a commit; true: numbers were set aside, and it must be on disk before any of them
// is given.
bool advance(HighWaterMark& mark, Epoch epoch, Lsn lsn, JobId next_job_id, NodeId next_node_id);

// The mark after a node was heard of a later position than it has. A position without a history is
// one of the mark's own.
HighWaterMark raised_to(HighWaterMark mark, const JournalPosition& heard);

// What a mark is worth that was not written with every commit: one of release 0.1.0, which wrote
// once a second; what a node has heard at its last heartbeat; what an administrator says who has
// neither.
inline constexpr std::uint64_t kIdsInASecond = 10'000;
inline constexpr std::uint64_t kIdsBetweenHeartbeats = 1'000'000;

// data_loss with what the administrator can do if `found` is behind `seen`, or of a history that a
// rollback ended; failed_precondition if it is another database. `past_histories` are those before
// `found`.
Status check_not_behind(const HighWaterMark& seen, const HighWaterMark& found,
                        const std::vector<std::string>& past_histories);

// Where a database goes on after its rollback was accepted: above everything reserved and found.
// The history is the caller's to name.
HighWaterMark raised_above(const HighWaterMark& seen, const HighWaterMark& found);

// Where a database goes on that is not behind `seen`. If `seen` may lack the last moments, jobs
// submitted in them keep their numbers.
JobId next_job_id_after(const HighWaterMark& seen, const HighWaterMark& found);

class HighWater {
 public:
  explicit HighWater(std::string path);
  ~HighWater();
  HighWater(const HighWater&) = delete;
  HighWater& operator=(const HighWater&) = delete;

  // Empty if the file does not exist. data_loss if it is damaged.
  Result<std::optional<HighWaterMark>> load() const;

  // Begins a new file and replaces the old one; on disk when it returns. First call of those that
  // write.
  Status create(const HighWaterMark& mark);

  // Survives the end of the process at once, and that of the machine after sync(). Takes no space
  // that create() has not taken. `clean`: the last mark of a controller that ends by itself.
  Status write(const HighWaterMark& mark, bool clean = false);
  Status sync();

 private:
  const std::string path_;
  const std::string boot_id_;  // of the running kernel
  int fd_ = -1;
  std::uint64_t writes_ = 0;
};

}  // namespace ares::store
