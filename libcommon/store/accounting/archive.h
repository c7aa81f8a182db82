// Archive: months of accounting on their way into files and back (sql/views/040_care.sql). The files themselves are the caller's.
//
// A month leaves like this: next(), page() until it is empty, the file is made safe, purge() compares what the file holds with what is
// there and takes the month out in one transaction. A crash anywhere leaves the month here, or in a whole file, or both; beginning
// again does the rest. Nobody else waits for any of it but, for a moment, at the very end.
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

// A file that months were written to, as the database remembers it.
struct ArchivedFile {
  std::string name;  // without its folder
  Time began{}, ended{};
  std::uint64_t rows = 0;
  Time purged{};
  std::optional<Time> loaded;
};

// What rows come to: equal sums, equal rows.
struct ArchiveSum {
  std::uint64_t rows = 0;
  std::uint64_t digest = 0;

  void add(std::uint64_t row_digest);
  friend bool operator==(const ArchiveSum&, const ArchiveSum&) = default;
};

class Archive {
 public:
  explicit Archive(PgOptions options) : options_(std::move(options)) {}

  // Of all that follow: unavailable = the database is away.

  // Holds a lock that only one controller has; false: another has it.
  Result<bool> try_lock();

  // Identifies the database, wherever it is copied to.
  Result<std::string> system();

  // The first month that was over by `before` and has rows; those loaded back only if wanted. None: nothing is left.
  Result<std::optional<Time>> next(Time before, bool with_loaded);

  // The next rows of a month as JSON objects, ascending keys; none: that was all. A month begins with an empty cursor.
  struct Cursor {
    std::int64_t job = -1, task = -2, attempt = -1;
    Time ended{};
  };
  Result<std::vector<std::string>> page(Time month, Cursor& cursor, ArchiveSum& sum);

  enum class PurgeResult {
    done,
    changed,  // other rows are there than the file has: write it again
    early,    // not all of it is in the sums of reports yet
    busy,     // somebody reads: try again
  };
  Result<PurgeResult> purge(Time month, const std::string& file, const ArchiveSum& written,
                            Time now);

  // From here on what is loaded stays until it is wanted away. False: somebody reads, try again.
  Result<bool> begin_load(const ArchivedFile& file, Time now);
  // Puts rows back: how many were not there. failed_precondition: they are of a newer release.
  Result<std::uint64_t> load(const std::vector<std::string>& rows);

  Result<std::vector<ArchivedFile>> files();

 private:
  Result<PgRows> query(const char* sql, const PgParams& params = {});

  PgOptions options_;
  std::optional<PgConnection> connection_;
};

}  // namespace ares::store
