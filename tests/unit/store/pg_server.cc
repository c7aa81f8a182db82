#include "unit/store/pg_server.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ares::store::testing {
namespace {

namespace fs = std::filesystem;

std::string find_binary(const std::string& name) {
  for (const char* version : {"15", "16", "17", "14", "13"}) {
    const std::string path = std::string("/usr/lib/postgresql/") + version + "/bin/" + name;
    if (fs::exists(path)) return path;
  }
  throw std::runtime_error("no PostgreSQL server below /usr/lib/postgresql: run contrib/deps.sh");
}

// PostgreSQL refuses to run as root.
const passwd* server_user() {
  if (::getuid() != 0) return nullptr;
  const passwd* user = ::getpwnam("postgres");
  if (!user) throw std::runtime_error("no user `postgres`: run contrib/deps.sh");
  return user;
}

pid_t spawn(const std::vector<std::string>& arguments, const std::string& log) {
  const passwd* user = server_user();
  const uid_t uid = user ? user->pw_uid : 0;
  const gid_t gid = user ? user->pw_gid : 0;
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid > 0) return pid;
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (user && (::setgid(gid) != 0 || ::setuid(uid) != 0)) ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  ::setpgid(0, 0);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

int await_exit(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

PgServer::PgServer() {
  std::string pattern = (fs::temp_directory_path() / "ares-pg-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make " + pattern);
  directory_ = pattern;
  if (const passwd* user = server_user())
    if (::chown(directory_.c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error("cannot chown " + directory_);
  const std::string log = directory_ + "/log";
  const int status =
      await_exit(spawn({find_binary("initdb"), "-D", directory_ + "/data", "-U", "ares", "-A",
                        "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"},
                       log));
  if (status != 0) throw std::runtime_error("initdb failed: see " + log);
  set("listen_addresses", "");
  set("unix_socket_directories", directory_);
  set("shared_buffers", "32MB");
  set("max_connections", "20");
  set("recovery_init_sync_method", "syncfs");  // fewer calls after an immediate stop
  start();
}

PgServer::~PgServer() {
  stop_immediately();
  std::error_code ignored;  // files left in the temporary directory fail no test
  fs::remove_all(directory_, ignored);
}

void PgServer::set(const std::string& parameter, const std::string& value) {
  std::ofstream file(directory_ + "/data/postgresql.conf", std::ios::app);
  file << parameter << " = '" << value << "'\n";
  if (!file.flush()) throw std::runtime_error("cannot write postgresql.conf");
}

void PgServer::start() {
  server_ = spawn({find_binary("postgres"), "-D", directory_ + "/data"}, directory_ + "/log");
  await_ready();
}

void PgServer::await_ready() {
  const std::string where = "host=" + directory_ + " dbname=postgres user=ares connect_timeout=2";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (PQping(where.c_str()) != PQPING_OK) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("PostgreSQL does not come up: see " + directory_ + "/log");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void PgServer::stop_immediately() {
  if (server_ < 0) return;
  ::kill(server_, SIGQUIT);
  await_exit(server_);
  server_ = -1;
}

uid_t PgServer::uid() const {
  const passwd* user = server_user();
  return user ? user->pw_uid : ::getuid();
}

PgOptions PgServer::new_database() {
  PgOptions options;
  options.host = directory_;
  options.user = "ares";
  options.controller_host = "test-host";
  options.database = "postgres";
  const std::string name = "ares" + std::to_string(++databases_);
  sql(options, "CREATE DATABASE " + name);
  options.database = name;
  return options;
}

std::string PgServer::sql(const PgOptions& database, const std::string& statement) {
  const std::string where =
      "host=" + directory_ + " dbname=" + database.database + " user=ares connect_timeout=5";
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(where.c_str()), PQfinish);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
      PQexec(connection.get(), statement.c_str()), PQclear);
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    throw std::runtime_error(statement + ": " + PQerrorMessage(connection.get()));
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

}  // namespace ares::store::testing
