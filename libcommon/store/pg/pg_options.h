// Connection to a PostgreSQL database, and its required guarantees. Mirrors the `database:` section
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
  std::string host;  // a directory = Unix socket; several, separated by commas, are tried in turn
  std::uint16_t port = 5432;
  std::string database = "ares";
  std::string user = "ares";
  std::string password_file;  // password in its first line; empty = none

  // Accept a server that may lose confirmed commits (fsync=off and the like).
  bool accept_data_loss = false;

  Seconds connect_timeout{5};
  Seconds lock_timeout{10};  // maximum wait for another controller's commit when taking the epoch

  ClusterId cluster{1};
  std::string cluster_name = "ares";
  std::string controller_host;  // shown to a controller that this one fences

  // Database position as recorded on this machine. A database behind it is refused, unless:
  std::optional<HighWaterMark> seen;
  bool accept_rollback = false;

  // Only for queries (PgPool): connection string words of a read replica that override the above; empty = none. The replica must have
  // the identifier `replica_system`. `on_replica_change` gets a line when it fails or returns; called by any thread.
  std::string replica;
  std::string replica_system;
  std::function<void(const std::string&)> on_replica_change;
};

}  // namespace ares::store
