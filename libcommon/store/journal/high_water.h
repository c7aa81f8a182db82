// HighWater: a small local file that remembers how far the database had come, so that an older copy
// of it, or another database under the same name, is noticed.
// Owned by the controller's journal thread; one file, one process.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"

namespace ares::store {

struct HighWaterMark {
  std::string system;  // Opened::system
  Epoch epoch;
  Lsn lsn;
  JobId next_job_id;
  NodeId next_node_id;

  friend bool operator==(const HighWaterMark&, const HighWaterMark&) = default;
};

// data_loss with what the administrator can do if `found` is behind `seen`; failed_precondition if it
// is another database.
Status check_not_behind(const HighWaterMark& seen, const HighWaterMark& found);

// Where a database goes on after its rollback was accepted: above everything seen, with a margin for
// what was committed after the file was last written.
HighWaterMark raised_above(const HighWaterMark& seen, const HighWaterMark& found);

class HighWater {
 public:
  explicit HighWater(std::string path) : path_(std::move(path)) {}

  // Empty if there is no file yet. data_loss for a damaged one.
  Result<std::optional<HighWaterMark>> load() const;

  // Replaces the file: written beside it, synced, renamed, its directory synced.
  Status save(const HighWaterMark& mark) const;

 private:
  std::string path_;
};

}  // namespace ares::store
