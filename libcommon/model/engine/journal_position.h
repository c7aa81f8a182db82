// JournalPosition: how far a history of the database had come when it was last recorded. The
// controller's mark, a node's identity record and messages between them carry it. A plain value;
// any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace ares {

struct JournalPosition {
  // Names the database and its history, "DATABASE" or "DATABASE/BRANCH". Every copy has the same
  // one; an accepted rollback begins another. Empty: told by release 0.1.0, which compares lsn and
  // epoch only.
  std::string history;
  Epoch epoch;
  std::string holder;  // the controller process that took the epoch
  Lsn lsn;
  JobId next_job_id;  // no job has this number or a higher one

  friend bool operator==(const JournalPosition&, const JournalPosition&) = default;
};

// The part of a history's name that all histories of one database share.
inline std::string_view database_of(std::string_view history) {
  return history.substr(0, history.find('/'));
}

}  // namespace ares
