// How to reach a PostgreSQL database, and what may be demanded of it. Mirrors the `database:` section
// of ares.yaml without depending on it. A plain value; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "store/journal/high_water.h"

namespace ares::store {

struct PgOptions {
  std::string host;  // a directory is a Unix socket's; several, with commas, are tried in turn
  std::uint16_t port = 5432;
  std::string database = "ares";
  std::string user = "ares";
  std::string password_file;  // first line; empty = none

  // Go on with a server that may forget what it confirmed (fsync=off and the like).
  bool accept_data_loss = false;

  Seconds connect_timeout{5};
  Seconds lock_timeout{10};  // for another controller's commit under way when taking the epoch

  ClusterId cluster{1};
  std::string cluster_name = "ares";
  std::string controller_host;  // shown to whoever is fenced by this controller

  Seconds journal_retention{30 * 24 * 3600};  // whole days; older partitions are dropped

  // What this machine remembers of the database; one that is behind it is refused, unless:
  std::optional<HighWaterMark> seen;
  bool accept_rollback = false;

  // Of questions alone (PgPool): words of a connection string laid over the above, of a read replica; empty = none. It must say that it
  // is the database of this id. `tell` gets a line when it goes away and when it is back; on any thread.
  std::string replica;
  std::string replica_system;
  std::function<void(const std::string&)> on_replica_change;
};

}  // namespace ares::store
