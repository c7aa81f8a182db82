// The cluster's private PostgreSQL: finds, initialises and starts it (on a Unix socket only) and
// checks that it answers. Used on acluster's only thread.
#pragma once

#include <optional>
#include <string>

#include "acluster/layout.h"
#include "acluster/process.h"
#include "base/result.h"
#include "os/users.h"

namespace ares::acluster {

struct Postgres {
  std::string bin;               // Folder of initdb and postgres.
  std::optional<os::User> user;  // User it runs as; none = the caller.
};

// Finds the newest version that Debian installs. As root, PostgreSQL runs as the package's user
// `postgres` or as `ares-pg`, because it refuses to run as root. Returns not_found with the package
// to install.
Result<Postgres> find_postgres();

// Runs initdb and writes the settings on the first call; later calls only check. fsync stays on.
Status prepare_postgres(const Postgres& postgres, const Layout& layout);

Launch postgres_launch(const Postgres& postgres, const Layout& layout);

bool postgres_accepts(const Layout& layout);

// Creates the role and the database of the controller if they are missing. Precondition: PostgreSQL
// accepts connections.
Status ensure_database(const Postgres& postgres, const Layout& layout);

}  // namespace ares::acluster
