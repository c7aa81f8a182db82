#include "acluster/postgres.h"

#include <libpq-fe.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "os/file.h"

namespace ares::acluster {
namespace {

constexpr const char* kSuperuser = "postgres";
constexpr const char* kRole = "ares";

// Small, because many clusters may share a machine; durable, because the journal is the only source
// of the state.
constexpr std::string_view kSettings = R"(
# Written by acluster.
listen_addresses = ''
max_connections = 40
shared_buffers = 16MB
wal_buffers = 1MB
max_wal_size = 256MB
min_wal_size = 32MB
dynamic_shared_memory_type = posix
fsync = on
full_page_writes = on
synchronous_commit = on
jit = off
autovacuum_max_workers = 1
max_parallel_workers = 0
max_worker_processes = 2
log_line_prefix = '%m [%p] '
log_timezone = 'UTC'
timezone = 'UTC'
)";

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

std::string user_name_of(uid_t uid) {
  const auto user = os::find_user(UserId(uid));
  return user ? user->name : std::to_string(uid);
}

// Only the caller, which runs the controller, and PostgreSQL's own user may connect.
std::string identity_map(const Postgres& postgres) {
  std::string text = "# Written by acluster.\n";
  std::vector<std::string> users = {user_name_of(::geteuid())};
  if (postgres.user) users.push_back(postgres.user->name);
  for (const std::string& user : users)
    for (const char* role : {kSuperuser, kRole}) text += "acluster \"" + user + "\" " + role + "\n";
  return text;
}

Status write_text(const std::string& path, std::string_view text, std::ios::openmode mode) {
  std::ofstream file(path, mode);
  file << text;
  file.close();
  if (!file) return fail(ErrorCode::resource_exhausted, "cannot write " + path);
  return {};
}

Status run_initdb(const Postgres& postgres, const Layout& layout, const std::string& data) {
  Launch initdb;
  initdb.argv = {postgres.bin + "/initdb",
                 "-D",
                 data,
                 "-U",
                 kSuperuser,
                 "-A",
                 "peer",
                 "-E",
                 "UTF8",
                 "--locale=C.UTF-8",
                 "--no-instructions"};
  initdb.log = layout.log("initdb");
  initdb.user = postgres.user;
  const auto process = launch(initdb);
  if (!process) return fail(process.error());
  int status = 0;
  ::waitpid(process->pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorCode::failed_precondition, "initdb failed; see " + initdb.log);
  return {};
}

Status own(const Postgres& postgres, const std::string& path) {
  if (!postgres.user) return {};
  if (::chown(path.c_str(), postgres.user->uid.value(), postgres.user->gid.value()) != 0)
    return fail(os::errno_error("cannot give " + path + " to " + postgres.user->name));
  return {};
}

// PostgreSQL's user needs search permission on every folder above its data.
Status check_passable(const Postgres& postgres, const Layout& layout) {
  if (!postgres.user) return {};
  for (std::filesystem::path path = layout.dir; path.has_relative_path();
       path = path.parent_path()) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 01) == 0 &&
        status.st_uid != postgres.user->uid.value())
      return fail(ErrorCode::failed_precondition,
                  "user " + postgres.user->name +
                      ", as which PostgreSQL runs, cannot pass through " + path.string() +
                      "; choose another --dir, or: chmod o+x " + path.string());
  }
  return {};
}

Status execute(PGconn* connection, const std::string& sql, bool exists_is_fine) {
  const Rows rows(PQexec(connection, sql.c_str()), PQclear);
  if (PQresultStatus(rows.get()) == PGRES_COMMAND_OK) return {};
  const char* state = PQresultErrorField(rows.get(), PG_DIAG_SQLSTATE);
  const std::string code = state ? state : "";
  if (exists_is_fine && (code == "42710" || code == "42P04")) return {};
  return fail(ErrorCode::failed_precondition, sql + ": " + PQerrorMessage(connection));
}

}  // namespace

Result<Postgres> find_postgres() {
  Postgres postgres;
  int newest = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version > newest && std::filesystem::exists(entry.path() / "bin" / "postgres")) {
      newest = version;
      postgres.bin = entry.path() / "bin";
    }
  }
  if (newest == 0)
    return fail(
        ErrorCode::not_found,
        "PostgreSQL is not installed (nothing in /usr/lib/postgresql); install postgresql-15");
  if (::geteuid() != 0) return postgres;
  for (const char* name : {"postgres", "ares-pg"})
    if (auto user = os::find_user(std::string(name)); user && user->uid.value() != 0) {
      postgres.user = *user;
      return postgres;
    }
  return fail(ErrorCode::not_found,
              "PostgreSQL does not run as root, and there is neither a user postgres nor ares-pg; "
              "make one: adduser --system --group ares-pg");
}

Status prepare_postgres(const Postgres& postgres, const Layout& layout) {
  if (auto passable = check_passable(postgres, layout); !passable) return passable;
  // Connections that have yet to authenticate take places of max_connections: other users may not even connect.
  if (auto closed = make_closed_folder(layout.postgres_run); !closed) return closed;
  if (auto owned = own(postgres, layout.postgres_run); !owned) return owned;
  const std::string data = layout.postgres_data();
  if (!std::filesystem::exists(data + "/acluster.done")) {
    // An interrupted first `up` left a partial database that has not been used.
    if (auto removed = os::remove_tree(data); !removed) return removed;
    if (auto made = os::make_directories(data, 0700); !made) return made;
    if (auto owned = own(postgres, data); !owned) return owned;
    if (auto done = run_initdb(postgres, layout, data); !done) return done;
    if (auto done = write_text(data + "/postgresql.conf", kSettings, std::ios::app); !done)
      return done;
    if (auto done =
            write_text(data + "/pg_hba.conf", "local all all peer map=acluster\n", std::ios::trunc);
        !done)
      return done;
    if (auto done = os::replace_file(data + "/acluster.done", ""); !done) return done;
    if (auto owned = own(postgres, data + "/acluster.done"); !owned) return owned;
  }
  return write_text(data + "/pg_ident.conf", identity_map(postgres), std::ios::trunc);
}

Launch postgres_launch(const Postgres& postgres, const Layout& layout) {
  Launch launch;
  launch.argv = {postgres.bin + "/postgres", "-D", layout.postgres_data(),        "-k",
                 layout.postgres_run,        "-c", "unix_socket_permissions=0700"};
  launch.log = layout.log("postgres");
  launch.record = layout.record("postgres");
  launch.user = postgres.user;
  return launch;
}

bool postgres_accepts(const Layout& layout) {
  const std::string info =
      "connect_timeout=2 dbname=postgres user=postgres host='" + layout.postgres_run + "'";
  return PQping(info.c_str()) == PQPING_OK;
}

Status ensure_database(const Postgres&, const Layout& layout) {
  const std::string info = "connect_timeout=10 dbname=postgres user=" + std::string(kSuperuser) +
                           " host='" + layout.postgres_run + "'";
  const Connection connection(PQconnectdb(info.c_str()), PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK)
    return fail(ErrorCode::unavailable, PQerrorMessage(connection.get()));
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  if (auto done = execute(connection.get(), "CREATE ROLE ares LOGIN", true); !done) return done;
  // May read the views of accounting. The controller's role may not create it.
  if (auto done = execute(connection.get(), "CREATE ROLE ares_reader NOLOGIN", true); !done)
    return done;
  return execute(connection.get(), "CREATE DATABASE ares OWNER ares", true);
}

}  // namespace ares::acluster
