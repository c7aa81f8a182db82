#include "store/pg/pg_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <cstring>
#include <fstream>

namespace ares::store {
namespace {

// Meaning of PostgreSQL's error classes; the first matching prefix applies.
struct ErrorClass {
  std::string_view prefix;
  ErrorCode code;
  std::string_view advice;
};

constexpr ErrorClass kErrorClasses[] = {
    {"AR001", ErrorCode::stale, "this controller must stop; the other one goes on"},
    {"AR002", ErrorCode::data_loss, "another program wrote to the journal, or it was restored"},
    {"AR003", ErrorCode::data_loss, "rows were removed behind the controller's back"},
    {"AR004", ErrorCode::failed_precondition, "load it with that release"},
    {"08", ErrorCode::unavailable, ""},
    {"25006", ErrorCode::unavailable, "the server is a read-only standby"},
    {"25P03", ErrorCode::unavailable, ""},
    {"28", ErrorCode::failed_precondition,
     "check the user, its password and pg_hba.conf; see Database in ares-install(7)"},
    {"3D000", ErrorCode::failed_precondition, "create it with createdb"},
    {"40001", ErrorCode::unavailable, ""},  // on a replica: rows that it was reading were removed
    {"42501", ErrorCode::failed_precondition, "the database must belong to the user of ares.yaml"},
    {"42", ErrorCode::internal, "the tables are not those of this release"},
    {"53100", ErrorCode::resource_exhausted, "the database's disk is full: make room there"},
    {"53200", ErrorCode::resource_exhausted, "the database server is out of memory"},
    {"53300", ErrorCode::unavailable, "raise max_connections if it stays so"},
    {"53", ErrorCode::resource_exhausted, "the database server is at one of its limits"},
    {"55P03", ErrorCode::unavailable, "another session holds the lock"},
    {"57014", ErrorCode::resource_exhausted, "the statement was cancelled or took too long"},
    {"57P", ErrorCode::unavailable, ""},
    {"58030", ErrorCode::internal, "the database server cannot read or write its disk"},
    {"XX001", ErrorCode::data_loss, "the database's files are damaged: restore a copy"},
    {"XX002", ErrorCode::data_loss, "an index of the database is damaged: REINDEX it"},
};

const ErrorClass* find_class(std::string_view sqlstate) {
  if (sqlstate.empty()) return nullptr;
  for (const ErrorClass& row : kErrorClasses)
    if (sqlstate.starts_with(row.prefix)) return &row;
  return nullptr;
}

// libpq ends its messages with newlines and puts details on further lines.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\n')
      out.push_back(c);
    else if (!out.empty() && out.back() != ' ')
      out.push_back(' ');
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// "FATAL:  28P01: password …" contains the SQLSTATE because of PQERRORS_VERBOSE.
std::string sqlstate_in(std::string_view message) {
  const auto colon = message.find(":  ");
  if (colon == std::string_view::npos || message.size() < colon + 9 || message[colon + 8] != ':')
    return {};
  return std::string(message.substr(colon + 3, 5));
}

Error describe(std::string_view sqlstate, std::string text) {
  const ErrorClass* row = find_class(sqlstate);
  if (!sqlstate.empty()) text += " (SQLSTATE " + std::string(sqlstate) + ")";
  if (row && !row->advice.empty()) text += "; " + std::string(row->advice);
  return Error{classify_sqlstate(sqlstate), "database: " + std::move(text)};
}

Result<std::string> read_password(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line))
    return fail(ErrorCode::failed_precondition,
                "cannot read the database's password from " + path +
                    ": check `database: password_file` in ares.yaml and the file's owner and mode");
  return line;
}

// Completes a connection attempt. libpq's own timeout does not apply to this asynchronous form, but
// only this form reports the SQLSTATE of a refusal.
bool await_connection(PGconn* connection, std::chrono::steady_clock::time_point deadline) {
  auto wanted = PGRES_POLLING_WRITING;
  while (wanted != PGRES_POLLING_OK) {
    if (wanted == PGRES_POLLING_FAILED) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd fd{PQsocket(connection),
              static_cast<short>(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    if (left.count() <= 0 || ::poll(&fd, 1, static_cast<int>(left.count())) == 0) return false;
    wanted = PQconnectPoll(connection);
  }
  return true;
}

void collect_notice(void* to, const PGresult* result) {
  static_cast<std::vector<std::string>*>(to)->push_back(one_line(PQresultErrorMessage(result)));
}

// One index plan for all sizes of arrays: the tables' statistics may date from when they were
// empty. The timeouts keep a half-open connection from holding the fence.
constexpr const char* kCommitSettings =
    "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = '20s';"
    "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 5;"
    "SET tcp_user_timeout = 15000; SET client_min_messages = notice; SET lock_timeout = 0;"
    "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;"
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET TimeZone = 'UTC'";
// Several reports may sort rows at once: memory for one answer each, and no parallel workers on
// a server with other tasks.
constexpr const char* kReportSettings =
    "SET work_mem = '32MB'; SET max_parallel_workers_per_gather = 0;"
    "SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '20s';"
    "SET default_transaction_read_only = on; SET client_min_messages = warning;"
    "SET jit = off; SET TimeZone = 'UTC'";

// Sums a day at a time with low priority. If a crash loses a commit, the sums are computed again.
constexpr const char* kRollupSettings =
    "SET work_mem = '64MB'; SET max_parallel_workers_per_gather = 0; SET lock_timeout = '60s';"
    "SET statement_timeout = '600s'; SET idle_in_transaction_session_timeout = '20s';"
    "SET synchronous_commit = off; SET client_min_messages = warning;"
    "SET jit = off; SET TimeZone = 'UTC'";

// Quotes a value for a connection string.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

const char* settings_of(PgConnection::Use use) {
  switch (use) {
    case PgConnection::Use::commit: return kCommitSettings;
    case PgConnection::Use::report:
    case PgConnection::Use::replica: return kReportSettings;
    case PgConnection::Use::rollup: return kRollupSettings;
  }
  return kReportSettings;
}

}  // namespace

ErrorCode classify_sqlstate(std::string_view sqlstate) {
  if (sqlstate.empty()) return ErrorCode::unavailable;  // no connection
  const ErrorClass* row = find_class(sqlstate);
  return row ? row->code : ErrorCode::internal;
}

PgRows::PgRows(pg_result* result) : result_(result, [](pg_result* r) { PQclear(r); }) {}

int PgRows::size() const {
  return result_ ? PQntuples(result_.get()) : 0;
}

bool PgRows::null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view PgRows::bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::optional<std::int64_t> PgRows::maybe_bigint(int row, int column) const {
  if (null(row, column)) return std::nullopt;
  return bigint(row, column);
}

std::optional<Time> PgRows::maybe_time(int row, int column) const {
  if (null(row, column)) return std::nullopt;
  return time(row, column);
}

void PgConnection::Close::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

Result<PgConnection> PgConnection::connect(const PgOptions& options, Use use) {
  std::string password;
  if (!options.password_file.empty()) {
    auto read = read_password(options.password_file);
    if (!read) return fail(read.error());
    password = std::move(*read);
  }
  const std::string port = std::to_string(options.port);
  // Later words of a connection string win, and the one in `dbname` overrides preceding keywords.
  const std::string database = use == Use::replica
                                   ? "dbname=" + quoted(options.database) + " " + options.replica
                                   : options.database;
  const char* keywords[] = {"host",
                            "port",
                            "user",
                            "password",
                            "dbname",
                            "application_name",
                            "client_encoding",
                            "keepalives_idle",
                            "keepalives_interval",
                            "keepalives_count",
                            "tcp_user_timeout",
                            "target_session_attrs",
                            nullptr};
  const char* values[] = {options.host.c_str(),
                          port.c_str(),
                          options.user.c_str(),
                          password.empty() ? nullptr : password.c_str(),
                          database.c_str(),
                          use == Use::commit   ? "aresctld"
                          : use == Use::rollup ? "aresctld rollup"
                                               : "aresctld reports",
                          "UTF8",
                          "5",
                          "2",
                          "5",
                          "15000",
                          use == Use::replica  ? "any"
                          : use == Use::report ? "primary"
                                               : "read-write",
                          nullptr};
  std::unique_ptr<pg_conn, Close> connection(
      PQconnectStartParams(keywords, values, use == Use::replica ? 1 : 0));
  if (!connection) return fail(ErrorCode::unavailable, "database: out of memory");
  PQsetErrorVerbosity(connection.get(), PQERRORS_VERBOSE);
  auto notices = std::make_unique<Notices>();
  PQsetNoticeReceiver(connection.get(), collect_notice, notices.get());

  const auto deadline = std::chrono::steady_clock::now() + options.connect_timeout;
  if (PQstatus(connection.get()) == CONNECTION_BAD ||
      !await_connection(connection.get(), deadline)) {
    std::string text = one_line(PQerrorMessage(connection.get()));
    if (text.empty())
      text = "no answer within " + std::to_string(options.connect_timeout.count()) + " s";
    const std::string state = sqlstate_in(text);
    const std::string where = use == Use::replica ? "the replica (" + options.replica + ")"
                                                  : options.database + " at " + options.host;
    return fail(describe(state, "cannot connect to " + where + ": " + text));
  }
  PQsetErrorVerbosity(connection.get(), PQERRORS_DEFAULT);

  PgConnection session(std::move(connection), std::move(notices));
  if (auto set = session.run(settings_of(use)); !set) return fail(set.error());
  return session;
}

Error PgConnection::error(pg_result* result) const {
  const char* state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const char* primary = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : nullptr;
  std::string text = primary ? primary : one_line(PQerrorMessage(connection_.get()));
  if (text.empty()) text = "the connection broke";
  Error described = describe(state ? state : "", std::move(text));
  if (broken()) described.code = ErrorCode::unavailable;
  return described;
}

namespace {

// Parameters in libpq's form, all binary. The PgParams must outlive it.
struct Arguments {
  explicit Arguments(const PgParams& params) : formats(params.values().size(), 1) {
    for (const std::string& value : params.values()) {
      values.push_back(value.data());
      lengths.push_back(static_cast<int>(value.size()));
    }
  }
  int count() const { return static_cast<int>(values.size()); }

  std::vector<const char*> values;
  std::vector<int> lengths, formats;
};

}  // namespace

Result<PgRows> PgConnection::query(const char* sql, const PgParams& params) {
  const Arguments given(params);
  notices_->clear();
  pg_result* result =
      PQexecParams(connection_.get(), sql, given.count(), nullptr, given.values.data(),
                   given.lengths.data(), given.formats.data(), 1);
  PgRows rows(result);
  const auto status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return fail(error(result));
  return rows;
}

Status PgConnection::run(const std::string& sql) {
  notices_->clear();
  pg_result* result = PQexec(connection_.get(), sql.c_str());
  const PgRows owner(result);
  const auto status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return fail(error(result));
  return {};
}

Status PgConnection::prepare(const std::vector<const PgStatement*>& statements) {
  for (const PgStatement* statement : statements) {
    pg_result* result = PQprepare(connection_.get(), statement->name, statement->sql, 0, nullptr);
    const PgRows owner(result);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) return fail(error(result));
  }
  return {};
}

namespace {

bool send(PGconn* connection, const PgStep& step) {
  const Arguments given(step.params);
  return PQsendQueryPrepared(connection, step.statement->name, given.count(), given.values.data(),
                             given.lengths.data(), given.formats.data(), 1) == 1;
}

bool send_text(PGconn* connection, const char* sql) {
  return PQsendQueryParams(connection, sql, 0, nullptr, nullptr, nullptr, nullptr, 1) == 1;
}

}  // namespace

Result<PgConnection::Committed> PgConnection::transaction(const std::vector<PgStep>& steps) {
  PGconn* connection = connection_.get();
  notices_->clear();
  const auto unsure = [&](std::string why) { return Committed{false, std::move(why)}; };
  const auto lost = [&] { return unsure(one_line(PQerrorMessage(connection))); };

  bool sent = PQenterPipelineMode(connection) == 1 && send_text(connection, "BEGIN");
  for (const PgStep& step : steps) sent = sent && send(connection, step);
  sent = sent && send_text(connection, "COMMIT") && PQpipelineSync(connection) == 1;
  if (!sent) return lost();

  std::optional<Error> refused;
  bool committed = false;
  for (std::size_t i = 0; i < steps.size() + 2; ++i) {
    pg_result* result = PQgetResult(connection);
    const PgRows owner(result);
    if (!result) return lost();
    const auto status = PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
      const Error problem = error(result);
      if (broken() || problem.code == ErrorCode::unavailable) return unsure(problem.message);
      const bool at_commit = i == steps.size() + 1;
      if (at_commit && problem.code == ErrorCode::resource_exhausted)
        return unsure(problem.message);
      if (!refused) refused = problem;
    } else if (status != PGRES_PIPELINE_ABORTED && i == steps.size() + 1) {
      committed = std::strcmp(PQcmdStatus(result), "COMMIT") == 0;
    }
    if (pg_result* more = PQgetResult(connection)) {  // results are separated by a null pointer
      PQclear(more);
      return unsure("unexpected answers from the server");
    }
  }
  const PgRows sync(PQgetResult(connection));
  if (refused) {
    if (PQexitPipelineMode(connection) == 1) (void)run("ROLLBACK");  // if that fails: not idle()
    return fail(*refused);
  }
  if (!committed) return unsure("the server did not confirm the commit");
  if (!notices_->empty()) return unsure("the server warned: " + notices_->front());
  if (PQexitPipelineMode(connection) != 1) return unsure("the pipeline did not end");
  return Committed{};
}

bool PgConnection::broken() const {
  return PQstatus(connection_.get()) != CONNECTION_OK;
}

bool PgConnection::idle() const {
  return !broken() && PQpipelineStatus(connection_.get()) == PQ_PIPELINE_OFF &&
         PQtransactionStatus(connection_.get()) == PQTRANS_IDLE;
}

int PgConnection::backend_pid() const {
  return PQbackendPID(connection_.get());
}

Result<PgRows> PgLazyConnection::query(const char* sql, const PgParams& params) {
  if (!connection_) {
    auto made = PgConnection::connect(options_, use_);
    if (!made) return fail(made.error());
    connection_.emplace(std::move(*made));
  }
  auto rows = connection_->query(sql, params);
  if (connection_->broken()) connection_.reset();
  return rows;
}

}  // namespace ares::store
