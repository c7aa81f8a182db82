// The cluster's private PostgreSQL: found, initialised, started on a Unix socket only, asked whether it is there.
// Used on acluster's only thread.
#pragma once

#include <optional>
#include <string>

#include "acluster/layout.h"
#include "acluster/process.h"
#include "base/result.h"
#include "os/users.h"

namespace ares::acluster {

struct Postgres {
  std::string bin;               // folder of initdb and postgres
  std::optional<os::User> user;  // whom it runs as; none = the caller
};

// Debian's newest version. As root the user `postgres` of the package, or `ares-pg`: PostgreSQL refuses to run as root.
// not_found with what to install.
Result<Postgres> find_postgres();

// initdb and the settings, once; later calls only check. Everything is durable: fsync stays on.
Status prepare_postgres(const Postgres& postgres, const Layout& layout);

Launch postgres_launch(const Postgres& postgres, const Layout& layout);

bool postgres_accepts(const Layout& layout);

// Makes the role and the database that the controller uses, if they are missing. Precondition: it accepts.
Status ensure_database(const Postgres& postgres, const Layout& layout);

}  // namespace ares::acluster
