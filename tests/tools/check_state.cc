// Loads the state of a cluster from its database, as a starting controller does, and checks the invariants of every state.
// Prints the number of records of each kind; each violation is a line on standard error, and the program then exits with 1.
// Used by tests/replay/test_upgrade.py and make_release.py. The controller may run or not: it only reads.
//
//   check_state HOST PORT DATABASE USER
#include <cstdio>

#include "core/engine/invariants.h"
#include "database_words.h"
#include "store/pg/load.h"

int main(int argc, char** argv) {
  const auto options = ares::tools::read_database_words(argc, argv, "check_state");
  if (!options) return 2;
  auto connection =
      ares::store::PgConnection::connect(*options, ares::store::PgConnection::Use::report);
  if (!connection) {
    std::fprintf(stderr, "check_state: %s\n", connection.error().message.c_str());
    return 2;
  }
  const auto state = ares::store::load_state(*connection);
  if (!state) {
    std::fprintf(stderr, "check_state: %s\n", state.error().message.c_str());
    return 1;
  }
  const auto violations = ares::core::check_invariants(*state);
  for (const std::string& violation : violations)
    std::fprintf(stderr, "check_state: %s\n", violation.c_str());
  std::printf(
      "jobs %zu\nnodes %zu\npartitions %zu\nreservations %zu\naccounting %zu\nrequests %zu\n",
      state->jobs.size(), state->nodes.size(), state->partitions.size(), state->reservations.size(),
      state->accounting.size(), state->requests.size());
  return violations.empty() ? 0 : 1;
}
