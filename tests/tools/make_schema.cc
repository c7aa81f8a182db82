// Makes the tables and views of this release in an empty database, as a starting controller does.
// Used by tests/e2e/database_template.py.
//
//   make_schema HOST PORT DATABASE USER
#include <cstdio>
#include <cstdlib>

#include "store/pg/migrations.h"
#include "store/pg/pg_connection.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: make_schema HOST PORT DATABASE USER\n", stderr);
    return 2;
  }
  ares::store::PgOptions options;
  options.host = argv[1];
  options.port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  options.database = argv[3];
  options.user = argv[4];
  auto connection =
      ares::store::PgConnection::connect(options, ares::store::PgConnection::Use::commit);
  if (!connection) {
    std::fprintf(stderr, "make_schema: %s\n", connection.error().message.c_str());
    return 1;
  }
  auto made = ares::store::migrate(*connection, ares::store::migrations());
  if (made) made = ares::store::load_views(*connection, ares::store::views());
  if (made) return 0;
  std::fprintf(stderr, "make_schema: %s\n", made.error().message.c_str());
  return 1;
}
