// A private PostgreSQL for one test: initdb into a temporary directory, Unix socket only, removed
// at the end. As root it runs as the user `postgres`. Test code; one thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "store/pg/pg_connection.h"
#include "store/pg/pg_options.h"

namespace ares::store::testing {

class PgServer {
 public:
  PgServer();  // throws if it cannot be started
  ~PgServer();
  PgServer(const PgServer&) = delete;
  PgServer& operator=(const PgServer&) = delete;

  // Creates a new database and returns how to connect to it.
  PgOptions new_database();

  void set(const std::string& parameter, const std::string& value);  // takes effect at start()
  void start();  // the server ends with the thread that started it
  void
  stop_immediately();  // like `pg_ctl stop -m immediate`: no checkpoint, recovery at the next start
  const std::string& directory() const { return directory_; }
  uid_t uid() const;  // the user that the server runs as

  // Runs SQL as the superuser; throws on an error. Returns the first column of the first row, or "".
  std::string sql(const PgOptions& database, const std::string& statement);

 private:
  void await_ready();

  std::string directory_;
  pid_t server_ = -1;
  int databases_ = 0;
};

}  // namespace ares::store::testing
