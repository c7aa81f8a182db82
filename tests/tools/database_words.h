// The words by which Python tests tell a tool the database: HOST PORT DATABASE USER.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "store/pg/pg_options.h"

namespace ares::tools {

// None, and a line on standard error, if there are not four of them.
inline std::optional<store::PgOptions> read_database_words(int argc, char** argv,
                                                           const char* tool) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s HOST PORT DATABASE USER\n", tool);
    return std::nullopt;
  }
  store::PgOptions options;
  options.host = argv[1];
  options.port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  options.database = argv[3];
  options.user = argv[4];
  return options;
}

}  // namespace ares::tools
