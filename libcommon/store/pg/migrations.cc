#include "store/pg/migrations.h"

#include <string>

#include "store/pg/pg_connection.h"

namespace ares::store {
namespace {

// "ares" in ASCII: the advisory lock for all changes of the tables.
constexpr const char* kLock = "SELECT pg_advisory_lock(1634887027)";
constexpr const char* kUnlock = "SELECT pg_advisory_unlock(1634887027)";

constexpr const char* kVersionTable =
    "CREATE TABLE IF NOT EXISTS schema_version ("
    "  position integer PRIMARY KEY, name text NOT NULL UNIQUE, checksum text NOT NULL,"
    "  applied timestamptz NOT NULL DEFAULT now(), program text NOT NULL)";

// Compares applied migrations with those of this program; returns how many to skip.
Result<std::size_t> applied_already(const PgRows& applied, std::span<const Migration> wanted) {
  for (int row = 0; row < applied.size(); ++row) {
    const std::string name = applied.text(row, 0);
    const auto position = static_cast<std::size_t>(row);
    if (position >= wanted.size() || wanted[position].name != name)
      return fail(ErrorCode::failed_precondition,
                  "the database is newer than this program (" ARES_VERSION
                  "): it has the migration " +
                      name + ", made by release " + applied.text(row, 2) +
                      ", which this program does not know. Start that release, or a later one");
    if (wanted[position].checksum != applied.bytes(row, 1))
      return fail(ErrorCode::failed_precondition,
                  "the migration " + name + " is not the one that release " + applied.text(row, 2) +
                      " ran on this database: this program was built from other sources");
  }
  return static_cast<std::size_t>(applied.size());
}

Status apply(PgConnection& connection, const Migration& migration, std::size_t position) {
  const std::string name(migration.name);
  const std::string script =
      "BEGIN;\n" + std::string(migration.sql) +
      "\n;\nINSERT INTO schema_version (position, name, checksum, program) VALUES (" +
      std::to_string(position) + ", '" + name + "', '" + std::string(migration.checksum) +
      "', '" ARES_VERSION "');\nCOMMIT";
  if (auto done = connection.run(script); !done) {
    Error error = done.error();
    error.message = "migration " + name + ": " + error.message;
    return fail(std::move(error));
  }
  return {};
}

Status migrate_locked(PgConnection& connection, std::span<const Migration> wanted) {
  // If the table exists PostgreSQL sends a notice, which does not put a commit in doubt here.
  if (auto made = connection.run(kVersionTable); !made) return fail(made.error());
  auto applied =
      connection.query("SELECT name, checksum, program FROM schema_version ORDER BY position");
  if (!applied) return fail(applied.error());
  auto skip = applied_already(*applied, wanted);
  if (!skip) return fail(skip.error());
  for (std::size_t i = *skip; i < wanted.size(); ++i)
    if (auto done = apply(connection, wanted[i], i); !done) return done;
  return {};
}

Status load_locked(PgConnection& connection, std::span<const Migration> wanted) {
  auto loaded = connection.query("SELECT name, checksum FROM view_version ORDER BY name");
  if (!loaded) return fail(loaded.error());
  bool same = static_cast<std::size_t>(loaded->size()) == wanted.size();
  for (int row = 0; same && row < loaded->size(); ++row) {
    const Migration& mine = wanted[static_cast<std::size_t>(row)];
    same = loaded->text(row, 0) == mine.name && loaded->text(row, 1) == mine.checksum;
  }
  if (same) return {};
  // If an object exists PostgreSQL sends a notice, which does not put the commit in doubt.
  std::string script = "BEGIN;\nSET LOCAL lock_timeout = '10s';\n";
  std::string rows;
  for (const Migration& view : wanted) {
    script += std::string(view.sql) + "\n;\n";
    rows += (rows.empty() ? "('" : ", ('") + std::string(view.name) + "', '" +
            std::string(view.checksum) + "')";
  }
  script += "DELETE FROM view_version;\n";
  if (!rows.empty()) script += "INSERT INTO view_version (name, checksum) VALUES " + rows + ";\n";
  if (auto done = connection.run(script + "COMMIT"); !done) {
    Error error = done.error();
    error.message = "sql/views: " + error.message;
    return fail(std::move(error));
  }
  return {};
}

template <class Work>
Status under_lock(PgConnection& connection, Work&& work) {
  if (auto locked = connection.query(kLock); !locked) return fail(locked.error());
  Status done = work();
  if (!done) return done;  // the caller closes the connection, which releases the lock
  if (auto unlocked = connection.query(kUnlock); !unlocked) return fail(unlocked.error());
  return {};
}

}  // namespace

Status migrate(PgConnection& connection, std::span<const Migration> wanted) {
  return under_lock(connection, [&] { return migrate_locked(connection, wanted); });
}

Status load_views(PgConnection& connection, std::span<const Migration> wanted) {
  return under_lock(connection, [&] { return load_locked(connection, wanted); });
}

}  // namespace ares::store
