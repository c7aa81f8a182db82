// Steps of a controller on a fresh connection before it may commit: checks that the server does not
// lose confirmed commits, and takes the next epoch. Used by PgJournal; journal thread only.
#pragma once

#include <string>

#include "base/result.h"
#include "store/journal/high_water.h"
#include "store/pg/pg_connection.h"

namespace ares::store {

// Names a controller process, or a history.
std::string random_uuid();

// failed_precondition if the server's settings may lose commits, its encoding cannot hold every
// name,
// or the database belongs to another cluster.
Status check_server(PgConnection& connection, const PgOptions& options);

// One more than the highest epoch, in a commit of its own. `holder` names this process. Refuses a
// database behind `options.seen`. With `options.accept_rollback` a new history begins, above
// everything that was seen.
Result<HighWaterMark> take_epoch(PgConnection& connection, const PgOptions& options,
                                 const std::string& holder);

// The same, but only if this process still holds the epoch; stale if another controller took over.
Result<HighWaterMark> retake_epoch(PgConnection& connection, const PgOptions& options,
                                   const std::string& holder);

}  // namespace ares::store
