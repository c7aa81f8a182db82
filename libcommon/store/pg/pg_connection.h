// PgConnection: one session with PostgreSQL, its settings and the classes of its errors. Used by
// store/ only. Owned by one thread at a time. A broken connection cannot be repaired: make another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/pg/pg_options.h"
#include "store/pg/pg_params.h"

struct pg_conn;
struct pg_result;

namespace ares::store {

// Rows of a query; all columns in binary format.
class PgRows {
 public:
  PgRows() = default;
  explicit PgRows(pg_result* result);

  int size() const;
  bool null(int row, int column) const;
  std::string_view bytes(int row, int column) const;
  std::string text(int row, int column) const { return std::string(bytes(row, column)); }
  std::int64_t bigint(int row, int column) const { return read_bigint(bytes(row, column)); }
  Time time(int row, int column) const { return read_timestamp(bytes(row, column)); }
  std::optional<std::int64_t> maybe_bigint(int row, int column) const;
  std::optional<Time> maybe_time(int row, int column) const;

 private:
  std::shared_ptr<pg_result> result_;
};

// A statement prepared under a name on its connection.
struct PgStatement {
  const char* name;
  const char* sql;
};

// One step of a pipeline.
struct PgStep {
  const PgStatement* statement;
  PgParams params;
};

class PgConnection {
 public:
  enum class Use {
    commit,   // the journal: durable, no time limit, plans for single rows
    report,   // read-only, a time limit for each statement
    replica,  // the same on the replica named by the options
    rollup,  // writes sums or purges, which can be repeated: large statements, durable some time later
  };

  // unavailable: unreachable, starting, out of connections: try again. failed_precondition: refused
  // permanently (unknown database or user, wrong password).
  static Result<PgConnection> connect(const PgOptions& options, Use use);

  // One statement with separate parameters. After an error the connection may be broken().
  Result<PgRows> query(const char* sql, const PgParams& params = {});

  // Several statements without parameters, as one transaction.
  Status run(const std::string& sql);

  Status prepare(const std::vector<const PgStatement*>& statements);

  // BEGIN, the steps and COMMIT, sent at once: all take effect or none. An error is PostgreSQL's
  // own; none took effect, and the transaction is rolled back. `sure` false: the outcome of the
  // commit is unknown (the connection broke, the server warned, or had no room for the commit
  // itself).
  struct Committed {
    bool sure = true;
    std::string why;
  };
  Result<Committed> transaction(const std::vector<PgStep>& steps);

  bool broken() const;
  // Connected and in no transaction: the next one can begin.
  bool idle() const;
  int backend_pid() const;

 private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  // Notices of the running statement; at a fixed address, because the connection can be moved.
  using Notices = std::vector<std::string>;

  PgConnection(std::unique_ptr<pg_conn, Close> connection, std::unique_ptr<Notices> notices)
      : notices_(std::move(notices)), connection_(std::move(connection)) {}
  Error error(pg_result* result) const;

  std::unique_ptr<Notices> notices_;  // must outlive the connection
  std::unique_ptr<pg_conn, Close> connection_;
};

// A session that is opened by the first query, and again by the first one after it broke.
class PgLazyConnection {
 public:
  PgLazyConnection(PgOptions options, PgConnection::Use use)
      : options_(std::move(options)), use_(use) {}

  // As PgConnection::query(); also the errors of connect().
  Result<PgRows> query(const char* sql, const PgParams& params = {});

 private:
  const PgOptions options_;
  const PgConnection::Use use_;
  std::optional<PgConnection> connection_;
};

// Maps an error of PostgreSQL for the caller. `sqlstate` may be empty (no connection).
ErrorCode classify_sqlstate(std::string_view sqlstate);

}  // namespace ares::store
