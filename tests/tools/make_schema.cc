// Makes the tables and views of this release in an empty database, as a starting controller does.
// Used by tests/e2e/database_template.py.
//
//   make_schema HOST PORT DATABASE USER
#include <cstdio>

#include "database_words.h"
#include "store/pg/migrations.h"
#include "store/pg/pg_connection.h"

int main(int argc, char** argv) {
  const auto options = ares::tools::read_database_words(argc, argv, "make_schema");
  if (!options) return 2;
  auto connection =
      ares::store::PgConnection::connect(*options, ares::store::PgConnection::Use::commit);
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
