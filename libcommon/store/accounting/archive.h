// Archive: moves months of accounting into files and back (sql/views/040_care.sql).
//
// The caller writes the files: next(), page() until it is empty, sync the file, purge(). purge() compares the sums of file and table
// and deletes the month in one transaction. After a crash the month is in the table, in a complete file, or in both; repeating the
// calls completes the work. Other sessions are blocked only for a moment, at the end.
// Owned by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store {

// A file of archived months, as recorded in the database.
struct ArchivedFile {
  std::string name;  // without the folder
  Time began{}, ended{};
  std::uint64_t rows = 0;
  Time purged{};
  std::optional<Time> loaded;
};

// Checksum over rows: equal sums mean equal rows.
struct ArchiveSum {
  std::uint64_t rows = 0;
  std::uint64_t digest = 0;

  void add(std::uint64_t row_digest);
  friend bool operator==(const ArchiveSum&, const ArchiveSum&) = default;
};

class Archive {
 public:
  explicit Archive(PgOptions options)
      : connection_(std::move(options), PgConnection::Use::rollup) {}

  // Error of all functions below: unavailable = the database is unreachable.

  // Takes a lock that only one controller can hold. False: another controller holds it.
  Result<bool> try_lock();

  // Identifier of the database, which its copies share.
  Result<std::string> system();

  // The first month with rows that ended before `before`; loaded months only on request.
  Result<std::optional<Time>> next(Time before, bool with_loaded);

  // The next rows of a month as JSON objects, by key; empty = no more. Start with a new cursor.
  struct Cursor {
    std::int64_t job = -1, task = -2, attempt = -1;
    Time ended{};
  };
  Result<std::vector<std::string>> page(Time month, Cursor& cursor, ArchiveSum& sum);

  enum class PurgeResult {
    done,
    changed,  // the table has other rows than the file: write the file again
    early,    // not all of its hours are summed up for reports yet
    busy,     // another session is reading: try again
  };
  Result<PurgeResult> purge(Time month, const std::string& file, const ArchiveSum& written,
                            Time now);

  // The file's months stay loaded until archived again. False: a session is reading, try again.
  Result<bool> begin_load(const ArchivedFile& file, Time now);
  // Inserts rows; returns how many were missing. failed_precondition: a newer release wrote them.
  Result<std::uint64_t> load(const std::vector<std::string>& rows);

  Result<std::vector<ArchivedFile>> files();

 private:
  PgLazyConnection connection_;
};

}  // namespace ares::store
