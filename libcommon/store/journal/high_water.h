// HighWater: a small local file with the highest database position seen, to detect that the
// database was replaced by an older copy or by another database of the same name.
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

// data_loss with advice to the administrator if `found` is behind `seen`; failed_precondition if it
// is another database.
Status check_not_behind(const HighWaterMark& seen, const HighWaterMark& found);

// Position at which a database continues after its rollback was accepted: above everything seen,
// with a margin for commits after the last write of the file.
HighWaterMark raised_above(const HighWaterMark& seen, const HighWaterMark& found);

class HighWater {
 public:
  explicit HighWater(std::string path) : path_(std::move(path)) {}

  // Empty if the file does not exist. data_loss if it is damaged.
  Result<std::optional<HighWaterMark>> load() const;

  // Replaces the file: writes a temporary file, syncs it, renames it, syncs the directory.
  Status save(const HighWaterMark& mark) const;

 private:
  std::string path_;
};

}  // namespace ares::store
